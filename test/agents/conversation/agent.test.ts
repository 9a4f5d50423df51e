import { describe, expect, it, vi } from 'vitest';
import { createAgent } from '../../../agents/conversation/agent.ts';
import { fakeAgent } from '../../support/fakeAgent.ts';
import { isAlive } from '../../support/temporary.ts';
import { begin } from './startAgent.ts';
import { scriptedQuery } from './scriptedQuery.ts';

describe('an agent without a gateway', () => {
  it('[U-4] [I-3] starts with its first conversation and leaves nothing when it is stopped', async () => {
    const fake = fakeAgent();
    const agent = createAgent({ backend: 'claude', env: fake.env, claude: { command: fake.command } });
    expect(await (await begin(agent)).send('say hi').outcome).toMatchObject({
      ok: true,
      value: { text: 'hi', agent: 'claude' },
    });
    await agent.stop();
    await vi.waitUntil(() => fake.starts().every(({ pid }) => !isAlive(pid)), { timeout: 20_000 });
    expect(await agent.start()).toMatchObject({ ok: false, failure: { kind: 'unavailable', reason: 'stopped' } });
  });

  it('[U-4] stopped before it was used ends at once', async () => {
    const { query, queries } = scriptedQuery();
    const agent = createAgent({ backend: 'claude', name: 'coder', claude: { query } });
    await agent.stop();
    expect(await agent.resume('session-1')).toMatchObject({ ok: false, failure: { integration: 'coder' } });
    expect(queries).toHaveLength(0);
  });

  it('[R-9] names what is wrong with its options', () => {
    expect(() => createAgent({ backend: 'claude', store: '' })).toThrow('store');
    expect(() => createAgent({ backend: 'claude', modle: 'x' } as never)).toThrow('Unknown option `claude.modle`');
    const agent = createAgent({ backend: 'claude' });
    expect(() => agent.resume('')).toThrow('Expected `id` to be a non-empty string');
  });
});
