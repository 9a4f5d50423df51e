import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { agentKind } from '../../../../../agents/conversation/agent.ts';
import type { SdkQueryFunction } from '../../../../../agents/conversation/claude/agentSdkTypes.ts';
import type { AgentOptions } from '../../../../../agents/conversation/agentTypes.ts';
import { createGateway } from '../../../../../src/gateway/gateway.ts';
import type { Clock } from '../../../../../src/policy/clock.ts';
import { systemClock } from '../../../../../src/runtime/systemClock.ts';
import { deferred } from '../../../../support/deferred.ts';
import { fakeAgent } from '../../../../support/fakeAgent.ts';
import { SkippingClock } from '../../../../support/skippingClock.ts';
import { isAlive } from '../../../../support/temporary.ts';
import { listProcesses } from '../../../../../src/actors/process/processTable.ts';
import { begin, exact } from '../../startAgent.ts';

/** An agent over a real process that speaks as Claude does. */
async function startProcessAgent(
  options: Partial<AgentOptions> = {},
  env: Readonly<Record<string, string>> = {},
  clock: Clock = systemClock,
) {
  const fake = fakeAgent(env);
  const gateway = createGateway({ kinds: [agentKind], clock, random: () => 0.5 });
  onTestFinished(() => gateway.stop());
  const agent = gateway.agent('coder', {
    backend: 'claude',
    env: fake.env,
    policy: { retry: { ...exact.retry, maxAttempts: 1 } },
    ...options,
    claude: { command: fake.command, graceMs: 200, interruptMs: 200, ...options.claude },
  });
  await gateway.start();
  return { fake, gateway, agent, conversation: await begin(agent) };
}

/** Pids of all that is below a process, as long as it lives. */
async function below(pid: number): Promise<readonly number[]> {
  return (await listProcesses()).filter(({ parent }) => parent === pid).map((entry) => entry.pid);
}

/** For what happens when it does. */
const patient = { timeout: 20_000 };

const quickRetry = {
  retry: { maxAttempts: 2, backoff: { kind: 'constant', delayMs: 1, jitter: { kind: 'none' } } },
} as const;

describe('the process behind an agent', () => {
  it('[V-9] [C-6] is a temporary child of the root supervisor, and stays for the next turn', async () => {
    const { conversation, gateway, fake } = await startProcessAgent();
    expect(await conversation.send('say hi').outcome).toMatchObject({ ok: true, value: { text: 'hi' } });
    const child = gateway.tree().children?.find(({ id }) => id === 'process:coder:1');
    expect(child).toMatchObject({ restart: 'temporary' });
    expect(await conversation.send('say more').outcome).toMatchObject({ ok: true, value: { text: 'more' } });
    expect(fake.starts()).toHaveLength(1);
    expect(fake.starts()[0]).toMatchObject({ retries: '1' });
  });

  it('[I-1] answers in a turn of a session though its gateway drains, and nobody else', async () => {
    const { agent, conversation, gateway } = await startProcessAgent();
    const [begun, go] = [deferred<undefined>(), deferred<undefined>()];
    const session = gateway.session('agent:main', {
      onMessage: async (_, { signal }) => {
        begun.resolve(undefined);
        await go.promise;
        return conversation.send('say hi', { signal }).outcome;
      },
    });
    const other = await begin(agent);
    const sent = await session.send({ kind: 'user' });
    await begun.promise;
    const stopped = gateway.stop({ drainMs: 600_000 });
    expect(await other.send('say no').outcome).toMatchObject({
      failure: { reason: 'stopped', outcome: 'not_started' },
    });
    go.resolve(undefined);
    expect(sent.accepted && (await sent.processed)).toMatchObject({ value: { ok: true, value: { text: 'hi' } } });
    await stopped;
  });

  it('[C-6] [S-3] [I-3] that hangs is gone after the idle limit, with what it started in a session of its own', async () => {
    const clock = new SkippingClock();
    const { conversation, gateway, fake } = await startProcessAgent(
      { policy: { retry: { maxAttempts: 1 }, limits: { idleMs: 60_000 } } },
      { FAKE_AGENT_STUBBORN: '1' },
      clock,
    );
    const exited = gateway.wait('process.exited');
    const { outcome } = conversation.send('fork');
    await vi.waitUntil(() => fake.prompts().length === 1, patient);
    const [{ pid } = { pid: 0 }] = fake.starts();
    const children = await vi.waitUntil(async () => {
      const found = await below(pid);
      return found.length > 0 && found;
    }, patient);
    clock.skip(60_000);
    expect(await outcome).toMatchObject({ failure: { kind: 'timeout', reason: 'idle_timeout' } });
    await exited;
    await vi.waitUntil(() => [pid, ...children].every((each) => !isAlive(each)), patient);
  });

  it('[R-13] [I-3] that does not obey is gone when the reader of its stream leaves, with what it started', async () => {
    const { conversation, gateway, fake } = await startProcessAgent({}, { FAKE_AGENT_STUBBORN: '1' });
    const exited = gateway.wait('process.exited');
    const { chunks, outcome } = conversation.stream('fork');
    const next = chunks.next();
    await vi.waitUntil(() => fake.prompts().length === 1, patient);
    const [{ pid } = { pid: 0 }] = fake.starts();
    const children = await vi.waitUntil(async () => {
      const found = await below(pid);
      return found.length > 0 && found;
    }, patient);
    await chunks.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(await outcome).toMatchObject({ failure: { kind: 'cancelled', reason: 'reader_left' } });
    await exited;
    await vi.waitUntil(() => [pid, ...children].every((each) => !isAlive(each)), patient);
  });

  it('[C-6] [R-12] that is killed is a crash, and the next attempt has a process of its own', async () => {
    const { conversation, fake } = await startProcessAgent({ policy: quickRetry });
    const outcome = await conversation.send('die').outcome;
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'crash', outcome: 'failed', attempts: 2 } });
    expect(fake.starts()).toHaveLength(2);
    expect(fake.prompts()).toEqual(['die', 'die']);
  });

  it('[U-4] is started anew with the id of its conversation', async () => {
    const { conversation, fake, gateway } = await startProcessAgent();
    await conversation.send('say hi').outcome;
    const { id } = conversation;
    const exited = gateway.wait('process.exited');
    process.kill(fake.starts()[0]?.pid ?? 0, 'SIGKILL');
    await exited;
    // The query ends a moment after its process.
    await vi.waitUntil(async () => (await conversation.send('say more').outcome).ok, patient);
    expect(fake.starts()[1]?.args.join(' ')).toContain(`--resume ${String(id)}`);
    expect(conversation.id).toBe(id);
  });

  it('[C-6] reads a prompt of 1 MB, and has nothing of it on its command line', async () => {
    const { conversation, fake } = await startProcessAgent();
    const prompt = `a ${'x'.repeat(1_048_574)}`;
    expect(await conversation.send(prompt).outcome).toMatchObject({
      value: { text: '1 and more: 1048576 characters' },
    });
    expect(fake.starts()[0]?.args.join(' ').length).toBeLessThan(1000);
  });

  it('[H-4] asks for leave through its control requests', async () => {
    const { conversation } = await startProcessAgent({ approve: () => 'accept' });
    expect(await conversation.send('tool ls').outcome).toMatchObject({ value: { text: 'done', effects: 'possible' } });
    const other = await startProcessAgent({ approve: () => 'decline' });
    expect(await other.conversation.send('tool ls').outcome).toMatchObject({ value: { text: 'not done' } });
  });

  it('[I-3] is gone when its conversation is stopped, and when the gateway is', async () => {
    const { conversation, fake, gateway, agent } = await startProcessAgent();
    await conversation.send('say hi').outcome;
    await conversation.stop();
    const other = await begin(agent);
    await other.send('say hi').outcome;
    const [first, second] = fake.starts().map(({ pid }) => pid);
    expect(isAlive(first ?? 0)).toBe(false);
    await gateway.stop();
    await vi.waitUntil(() => !isAlive(second ?? 0), patient);
  });

  it('[C-6] [I-3] of a query that has ended is ended too', async () => {
    const fake = fakeAgent();
    const query: SdkQueryFunction = ({ options = {} }) => {
      const spawn = options['spawnClaudeCodeProcess'] as (asked: object) => unknown;
      spawn({ command: fake.command, args: [], env: { ...process.env, ...fake.env } });
      const interrupt = (): Promise<undefined> => Promise.resolve(undefined);
      return { interrupt, async *[Symbol.asyncIterator]() {} };
    };
    const { conversation } = await startProcessAgent({ claude: { query, command: undefined } });
    expect(await conversation.send('say hi').outcome).toMatchObject({ ok: false, failure: { kind: 'protocol' } });
    expect(fake.starts().some(({ pid }) => isAlive(pid))).toBe(false);
  });

  it('[O-8] [S-1] has the environment it is given, without what is taken out', async () => {
    vi.stubEnv('UNWEDGE_TEST_SECRET', 'secret');
    onTestFinished(() => void vi.unstubAllEnvs());
    const fake = fakeAgent();
    for (const [env, secret] of [
      [{}, 'secret'],
      [{ UNWEDGE_TEST_SECRET: undefined }, null],
    ] as const) {
      const { conversation } = await startProcessAgent({
        env: { ...fake.env, ...env },
        claude: { command: fake.command },
      });
      await conversation.send('say hi').outcome;
      expect(fake.starts().at(-1)).toMatchObject({ secret });
    }
  });

  it('[S-4] that is not there is a failure to start', async () => {
    const { conversation } = await startProcessAgent({ claude: { command: '/nowhere/claude' } });
    expect(await conversation.send('say hi').outcome).toMatchObject({
      failure: { kind: 'spawn', code: 'ENOENT', outcome: 'not_started' },
    });
  });
});
