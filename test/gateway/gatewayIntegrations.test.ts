import { describe, expect, it } from 'vitest';
import { probePort } from '../../src/gateway/gatewayIntegrations.ts';
import type { ToolTarget } from '../../src/sessions/toolPort.ts';

describe('how a reconcile rule reaches a tool', () => {
  it('[R-16] asks no tool that the server does not declare, and says so', async () => {
    const target: Pick<ToolTarget, 'lacks'> = { lacks: (tool) => tool !== 'find_payment' };
    const port = probePort(new Map([['bank', target as ToolTarget]]));
    const outcome = await port.call(
      'bank',
      'find_payments',
      {},
      { signal: new AbortController().signal, timeoutMs: 1000 },
    );
    expect(outcome).toMatchObject({
      ok: false,
      failure: { outcome: 'not_started', message: 'bank declares no tool find_payments: it was not asked' },
    });
    // One that it declares goes on to its call path, which is not there.
    expect(() =>
      port.call('bank', 'find_payment', {}, { signal: new AbortController().signal, timeoutMs: 1000 }),
    ).toThrow(TypeError);
  });
});
