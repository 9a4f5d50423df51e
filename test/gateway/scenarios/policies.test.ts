import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agentKind, type AgentMethods } from '../../../agents/conversation/agent.ts';
import { codexKind, type CodexMethods } from '../../../agents/codex/codex.ts';
import {
  createGateway,
  type Gateway,
  type GatewayOptions,
  type Logger,
  type MessageHandler,
  type PolicyInput,
} from '../../../src/index.ts';
import { pathText } from '../../../src/policy/options/optionProblem.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { faultyServer } from '../../support/faultyServer.ts';

const silent = fileURLToPath(new URL('../../fixtures/silent.mjs', import.meta.url));

type MadeGateway = Gateway & AgentMethods & CodexMethods;

function makeGateway(options: GatewayOptions = {}): MadeGateway {
  const gateway = createGateway({ ...options, kinds: [agentKind, codexKind] });
  onTestFinished(() => gateway.stop());
  return gateway;
}

const hang = (): Promise<never> => new Promise(() => {});
const never = (): never => {
  throw new Error('gateway closed (1012)');
};

/** Every kind of integration under the name `x`, with a policy in code, and the preset it has by default. */
const kinds: readonly (readonly [string, string, (gateway: MadeGateway, policy: PolicyInput) => unknown])[] = [
  ['a function', 'sdk', (gateway, policy) => gateway.integration('x', { policy }, () => 1)],
  ['an MCP server', 'mcp', (gateway, policy) => gateway.mcpServer('x', { ...faultyServer(), policy })],
  ['a command', 'subprocess', (gateway, policy) => gateway.subprocess('x', { command: 'true', policy })],
  [
    'the command of Claude',
    'claudeCli',
    (gateway, policy) => gateway.subprocess('x', { command: 'claude', args: ['-p'], agent: 'claude', policy }),
  ],
  [
    'the command of Codex',
    'codex',
    (gateway, policy) => gateway.subprocess('x', { command: 'codex', agent: 'codex', policy }),
  ],
  ['Codex', 'codex', (gateway, policy) => gateway.codex('x', { policy })],
  ['the agent Codex', 'codex', (gateway, policy) => gateway.agent('x', { backend: 'codex', policy })],
  ['the agent Claude', 'sdk', (gateway, policy) => gateway.agent('x', { backend: 'claude', policy })],
  ['a hook', 'hook', (gateway, policy) => gateway.hook('Stop', () => undefined, { name: 'x', policy })],
];

describe('policies of a gateway', () => {
  // A window of 25 has no room for the 30 attempts that the other side asks for: who of the two came first is named.
  it.each(kinds)('[R-9] lie over the code of %s', (_what, _preset, declare) => {
    const settings = { breaker: { minimumAttempts: 30 } };
    const gateway = makeGateway({ policies: { integrations: { x: settings, 'hook:x': settings } } });
    expect(() => declare(gateway, { breaker: { windowSize: 25 } })).toThrow(
      /`policies\.integrations(\.x|\["hook:x"\])\.breaker\.minimumAttempts`/,
    );
    expect(() => declare(gateway, { breaker: { windowSize: 30 } })).not.toThrow();
  });

  it.each(kinds)('[R-9] change the preset of %s', (_what, preset, declare) => {
    const gateway = makeGateway({ policies: { presets: { [preset]: { breaker: { windowSize: 25 } } } } });
    expect(() => declare(gateway, { breaker: { minimumAttempts: 30 } })).toThrow('from 1 to 25 (windowSize), got 30');
    const other = makeGateway({ policies: { presets: { workflow: { breaker: { windowSize: 25 } } } } });
    expect(() => declare(other, { breaker: { minimumAttempts: 30 } })).not.toThrow();
  });

  it.each(kinds)('[R-9] give %s presets to extend', (_what, _preset, declare) => {
    const gateway = makeGateway({ policies: { presets: { small: { breaker: { windowSize: 25 } } } } });
    expect(() => declare(gateway, { extends: 'small', breaker: { minimumAttempts: 30 } })).toThrow(
      'from 1 to 25 (windowSize), got 30',
    );
  });

  it('[R-9] yield to the option of a single call', async () => {
    const clock = new SimulatedClock();
    const gateway = makeGateway({ clock, policies: { integrations: { kb: { attemptMs: 100, maxAttempts: 1 } } } });
    const kb = gateway.integration('kb', { policy: { attemptMs: 50, maxAttempts: 4 } }, hang);
    await gateway.start();
    const [usual, own] = [kb.call(1), kb.call(1, { attemptMs: 300 })];
    await clock.advance(100);
    expect(await usual).toMatchObject({
      failure: { kind: 'timeout', attempts: 1, message: expect.stringContaining('100') as string },
    });
    await clock.advance(200);
    expect(await own).toMatchObject({ failure: { kind: 'timeout', attempts: 1 } });
  });

  it('[R-9] give a tool what is configured for it, before what the code says of it and of its integration', async () => {
    const clock = new SimulatedClock();
    const policies = { integrations: { kb: { attemptMs: 400, maxAttempts: 1, tools: { query: { attemptMs: 100 } } } } };
    const gateway = makeGateway({ clock, policies });
    const kb = gateway.integration('kb', { tools: { query: { attemptMs: 50 }, put: { attemptMs: 200 } } }, hang);
    await gateway.start();
    const ended: string[] = [];
    for (const tool of ['query', 'put', 'list']) void kb.call({ tool, input: {} }).then(() => ended.push(tool));
    for (const [ms, expected] of [
      [99, []],
      [1, ['query']],
      [100, ['query', 'put']],
      [199, ['query', 'put']],
      [1, ['query', 'put', 'list']],
    ] as const) {
      await clock.advance(ms);
      expect(ended).toEqual(expected);
    }
  });

  it('[R-12] say what calls do, before the code does', async () => {
    const clock = new SimulatedClock();
    const gateway = makeGateway({ clock, policies: { integrations: { kb: { effect: 'mutating', attemptMs: 100 } } } });
    const kb = gateway.integration('kb', { effect: 'readOnly' }, hang);
    await gateway.start();
    const outcome = kb.call(1);
    await clock.advance(100);
    expect(await outcome).toMatchObject({ failure: { kind: 'timeout', attempts: 1 } });
  });

  it('[R-12] say what the tools of an MCP server do', async () => {
    const policies = { integrations: { kb: { effect: 'mutating', idleMs: 300 } } } as const;
    const gateway = makeGateway({ policies });
    const kb = gateway.mcpServer('kb', {
      ...faultyServer({ faults: [{ tool: 'search', do: 'hang' }] }),
      effect: 'readOnly',
      trustAnnotations: false,
      policy: { restartWaitMs: 25_000 },
    });
    await gateway.start();
    expect(await kb.call({ name: 'search' })).toMatchObject({ failure: { kind: 'timeout', attempts: 1 } });
  });

  it('[G-3] change how sessions’ tool calls are tried again', async () => {
    const backoff = { kind: 'constant', delayMs: 1 } as const;
    const gateway = makeGateway({ policies: { presets: { toolCall: { maxAttempts: 2, retry: { backoff } } } } });
    expect(await toolCallIn(gateway)).toMatchObject({ status: 'error', retries: 1 });
    const both = makeGateway({
      policies: { presets: { toolCall: { maxAttempts: 2, retry: { backoff } } } },
      toolCallRetry: { maxAttempts: 1 },
    });
    expect(await toolCallIn(both)).toMatchObject({ status: 'error', retries: 0 });
  });

  it.each([
    ['the preset of the integration', {}, 4],
    ['a preset that makes one attempt', { extends: 'codex' }, 4],
    ['that the integration was given itself', { maxAttempts: 2 }, 1],
  ])('[G-10] have toolCallRetry.maxAttempts: 5 hold against the attempts of %s', async (_, policy, retries) => {
    const gateway = makeGateway({ toolCallRetry: { maxAttempts: 5, backoffMs: [1] } });
    expect(await toolCallIn(gateway, policy)).toMatchObject({ status: 'error', retries });
  });

  it('[H-1] limit hooks, each limit on its own', async () => {
    const clock = new SimulatedClock();
    const gateway = makeGateway({
      clock,
      policies: { presets: { hook: { idleMs: 100 } }, integrations: { 'hook:own': { attemptMs: 200, idleMs: 200 } } },
    });
    gateway.hook('Stop', hang, { name: 'usual' });
    gateway.hook('Stop', hang, { name: 'own', overallMs: 50 });
    await gateway.start();
    const failed: unknown[] = [];
    gateway.on('hook.failed', (fact) => failed.push(fact.hook));
    const verdict = gateway.runHooks({ event: 'Stop' });
    for (const ms of [99, 1, 99, 1]) {
      await clock.advance(ms);
      failed.push(ms);
    }
    expect(failed).toEqual([99, 'usual', 1, 99, 'own', 1]);
    expect(await verdict).toMatchObject({ decision: 'continue' });
  });

  it('[H-1] yield to the limit a hook is given in code, whichever is longer', async () => {
    const clock = new SimulatedClock();
    const gateway = makeGateway({ clock, policies: { presets: { hook: { idleMs: 100 } } } });
    gateway.hook('Stop', hang, { name: 'short', overallMs: 50 });
    gateway.hook('Stop', hang, { name: 'long', overallMs: 20_000 });
    await gateway.start();
    const failed: unknown[] = [];
    gateway.on('hook.failed', (fact) => failed.push(fact.hook));
    void gateway.runHooks({ event: 'Stop' });
    for (const ms of [49, 1, 19_949, 1]) {
      await clock.advance(ms);
      failed.push(ms);
    }
    expect(failed).toEqual([49, 'short', 1, 19_949, 'long', 1]);
  });

  it('[S-2] hold a command that prints only at its end to a limit on silence that is configured for it', async () => {
    const gateway = makeGateway({ policies: { integrations: { cli: { idleMs: 300 } } } });
    const options = {
      command: process.execPath,
      args: [silent],
      printsOnlyAtEnd: true,
      policy: { idleMs: 100 },
      graceMs: 200,
    };
    const cli = gateway.subprocess('cli', options);
    const other = gateway.subprocess('other', options);
    await gateway.start();
    expect([cli.policy.limits.idleMs, other.policy.limits.idleMs]).toEqual([300, Number.POSITIVE_INFINITY]);
    expect(await cli.call({}, { maxAttempts: 1 })).toMatchObject({
      failure: { message: 'node produced no output for 300ms and was terminated.' },
    });
  });

  it.each(['codex', 'coder', 'hook:x'])('[R-9] are refused tools for %s, which has none', (name) => {
    const gateway = makeGateway({ policies: { integrations: { [name]: { tools: {} } } } });
    expect(() => {
      gateway.codex('codex');
      gateway.agent('coder', { backend: 'claude' });
      gateway.hook('Stop', () => undefined, { name: 'x' });
    }).toThrow(`\`${pathText(['policies', 'integrations', name, 'tools'])}\` to be left out`);
  });

  it.each([
    [{ policies: { presets: { a: { extends: 'b' }, b: { extends: 'a' } } } }, 'a → b → a'],
    [{ policies: { integrations: { kb: { idleMs: 0 } } } }, '`policies.integrations.kb.idleMs`'],
    [{ sessions: { historyLimit: 0 } }, '`sessions.historyLimit`'],
  ])('[R-9] are refused at once: %j', (options, message) => {
    expect(() => createGateway(options)).toThrow(message);
  });
});

const toolCallIn = async (gateway: Gateway, policy: PolicyInput = {}): Promise<unknown> => {
  gateway.integration('kb', { policy }, never);
  const session = gateway.session('s', { onMessage: (_message, turn) => turn.tool('kb', 'query') });
  await gateway.start();
  const acceptance = await session.send({ kind: 'user' });
  const outcome = acceptance.accepted ? await acceptance.processed : undefined;
  return outcome?.ok === true ? outcome.value : outcome;
};

describe('what is configured for nobody', () => {
  const warned: string[] = [];
  const logger: Logger = { debug() {}, info() {}, error() {}, warn: (message) => warned.push(message) };

  it('[I-4] is told when the gateway starts, once, with the name that may have been meant', async () => {
    const gateway = makeGateway({
      logger,
      policies: { integrations: { serach: { queueLength: 5 }, mail: {}, 'hook:x': {}, zzzzzz: {} } },
    });
    gateway.integration('search', {}, () => 1);
    gateway.integration('mail', {}, () => 1);
    gateway.hook('Stop', () => undefined, { name: 'x' });
    const told: unknown[] = [];
    gateway.on('config.unused', ({ integration, nearest }) => told.push([integration, nearest]));
    await gateway.start();
    expect(told).toEqual([
      ['serach', 'search'],
      ['zzzzzz', undefined],
    ]);
    expect(warned).toEqual([
      'Configured for serach, which no integration is declared as; did you mean search?',
      'Configured for zzzzzz, which no integration is declared as',
    ]);
    await gateway.store?.flush();
    expect(await gateway.store?.read({ category: 'config', limit: 9 })).toMatchObject([
      { type: 'unused', metadata: { integration: 'serach', nearest: 'search' } },
      {},
    ]);
    const late = gateway.integration('zzzzzz', {}, () => 1);
    expect(await late.call(1)).toEqual({ ok: true, value: 1 });
    expect(told).toHaveLength(2);
  });
});

describe('defaults of sessions', () => {
  it('[G-6] [G-8] hold for a session that says nothing itself', async () => {
    const clock = new SimulatedClock();
    const gateway = makeGateway({ clock, sessions: { watchdog: { toolCallMs: 100 }, mailbox: { limit: 1 } } });
    gateway.integration('kb', {}, hang);
    const onMessage: MessageHandler = (_message, turn) => turn.tool('kb', 'query');
    const usual = gateway.session('usual', { onMessage });
    const own = gateway.session('own', { onMessage, watchdog: { toolCallMs: 200 } });
    await gateway.start();
    const fired: unknown[] = [];
    gateway.on('session.watchdog_fired', ({ session }) => fired.push(session));
    for (const session of [usual, own]) await session.send({ kind: 'user' });
    await usual.send({ kind: 'user' });
    expect(await usual.send({ kind: 'user' })).toMatchObject({ accepted: false });
    for (const [ms, expected] of [
      [99, []],
      [1, ['usual']],
      [99, ['usual']],
    ] as const) {
      await clock.advance(ms);
      expect(fired).toEqual(expected);
    }
    await clock.advance(1);
    expect(fired).toContain('own');
  });
});
