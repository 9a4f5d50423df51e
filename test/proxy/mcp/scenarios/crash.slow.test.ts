import { expect, it } from 'vitest';
import { startProxy, textIn } from '../startProxy.ts';

it('[P-3] a server that crashes behind the proxy is never given up: it answers between forty crashes', async () => {
  const proxy = await startProxy();
  await proxy.open();
  for (let crash = 1; crash <= 40; crash++) {
    await proxy.call('act', { do: 'kill' });
    expect(textIn(await proxy.call('act', { do: 'start' }))).toBe(String(crash + 1));
  }
});
