import { describe, expect, it } from 'vitest';
import { agentKind } from '../../../../agents/conversation/agent.ts';
import type { AgentOptions } from '../../../../agents/conversation/agentTypes.ts';
import { createGateway } from '../../../../src/gateway/gateway.ts';
import { begin, startAgent } from '../startAgent.ts';

const claude = (options: object): Partial<AgentOptions> => ({ backend: 'claude', claude: options });

describe('options of an agent', () => {
  it.each<[object, string]>([
    [{}, 'Expected `coder.backend` to be one of claude, codex, acp, got undefined'],
    [{ backend: 'gpt' }, 'Expected `coder.backend` to be one of claude, codex, acp, got "gpt"'],
    [{ backend: 'claude', modle: 'x' }, 'Unknown option `coder.modle`'],
    [{ backend: 'claude', codex: {} }, 'Expected `coder.codex` to be left out with the backend claude'],
    [{ backend: 'codex', claude: {} }, 'Expected `coder.claude` to be left out with the backend codex'],
    [{ backend: 'claude', fallback: 'codex' }, 'Expected `coder.fallback` to be an agent'],
    [{ backend: 'claude', env: { A: 1 } }, 'Expected `coder.env.A` to be a string, got a number that is not shown'],
    [{ backend: 'codex', env: { A: undefined } }, 'Expected `coder.env.A` to be a string'],
    [
      { backend: 'claude', approvalMs: 0 },
      'Expected `coder.approvalMs` to be a duration above 0 (ms, or text such as 30s)',
    ],
    [claude({ options: { resume: 'x' } }), 'Expected `coder.claude.options.resume` to be left out; use `agent.resume'],
    [claude({ options: { env: {} } }), 'Expected `coder.claude.options.env` to be left out; use `env` of the agent'],
    [claude({ command: 'claude', options: {} }), 'Expected `coder.claude.options` to be left out with `command`'],
    [claude({ env: {} }), 'Expected `coder.claude.env` to be left out without `command`'],
    [claude({ command: 'claude', env: { A: 5 } }), 'Expected `coder.claude.env.A` to be'],
    [claude({ args: [] }), 'Expected `coder.claude.args` to be left out without `command`'],
    [
      claude({ retryLifeMs: -1 }),
      'Expected `coder.claude.retryLifeMs` to be a duration above 0 (ms, or text such as 30s), got -1',
    ],
    [claude({ query: 5 }), 'Expected `coder.claude.query` to be a function, got 5'],
    [{ backend: 'codex', codex: { env: {} } }, 'Expected `coder.codex.env` to be left out; use `env` of the agent'],
    [{ backend: 'codex', codex: { approve: null } }, 'Expected `coder.codex.approve` to be left out; use `approve`'],
    [{ backend: 'codex', codex: { effect: 'mutating' } }, 'Expected `coder.codex.effect` to be left out; use `effect`'],
    [{ backend: 'codex', codex: { thread: { cwd: '/' } } }, 'Unknown option `coder.codex.thread.cwd`'],
  ])('[R-9] %j is refused at once', (options, message) => {
    expect(() => createGateway({ kinds: [agentKind] }).agent('coder', options as AgentOptions)).toThrow(message);
  });

  it('[R-9] a name that is taken is refused', () => {
    const gateway = createGateway({ kinds: [agentKind] });
    gateway.agent('coder', { backend: 'claude' });
    expect(() => gateway.agent('coder', { backend: 'claude' })).toThrow('The name `coder` is taken');
  });

  it('[R-9] a wrong prompt or option of a turn is refused at once', async () => {
    const { converse, agent } = await startAgent();
    const conversation = await converse();
    expect(() => conversation.send('')).toThrow(RangeError);
    expect(() => conversation.send('hi', { idleMs: 0 })).toThrow('Expected `options.idleMs`');
    expect(() => conversation.send('hi', { effect: 'bad' as never })).toThrow('Expected `options.effect`');
    expect(() => agent.resume('')).toThrow('Expected `id` to be a non-empty string');
    expect(() => agent.resume('--dangerously-skip-permissions')).toThrow('Expected `id` to begin with another');
  });

  it("[R-8] a turn's signal that is aborted already starts nothing", async () => {
    const { converse, sdk, clock } = await startAgent();
    const { outcome } = (await converse()).send('hi', { signal: AbortSignal.abort(new Error('no')) });
    await clock.settle();
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled', outcome: 'not_started' } });
    expect(sdk.queries).toHaveLength(0);
  });

  it('[R-9] limits of a turn go before those of the policy', async () => {
    const { converse, clock } = await startAgent({ policy: { retry: { maxAttempts: 1 } } });
    const { outcome } = (await converse()).send('hi', { idleMs: 1000, label: 'greeting' });
    await clock.advance(999);
    expect(await Promise.race([outcome, Promise.resolve('pending')])).toBe('pending');
    await clock.advance(1);
    expect(await outcome).toMatchObject({ failure: { reason: 'idle_timeout' } });
  });

  it('[C-6] options of the SDK pass as they are, with the model and the directory', async () => {
    const { agent, sdk, clock } = await startAgent({
      model: 'sonnet',
      cwd: '/tmp',
      claude: { options: { allowedTools: ['Read'], mcpServers: { kb: { command: 'kb' } } } },
    });
    void (await begin(agent)).send('hi');
    await clock.settle();
    expect(sdk.at(0).options).toMatchObject({
      model: 'sonnet',
      cwd: '/tmp',
      allowedTools: ['Read'],
      includePartialMessages: true,
      mcpServersDelivery: 'initialize',
    });
  });
});
