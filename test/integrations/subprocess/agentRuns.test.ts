import { describe, expect, it } from 'vitest';
import { AgentRuns } from '../../../src/integrations/subprocess/agentRuns.ts';
import type { AttemptContext } from '../../../src/calls/operation.ts';
import type { Effect } from '../../../src/policy/effects.ts';
import type { FailureFacts } from '../../../src/policy/failures/failure.ts';
import { presets } from '../../../src/policy/presets.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

const timedOut: FailureFacts = { kind: 'timeout', message: 'x', outcome: 'unknown' };
const codexActs = { type: 'item.started', item: { type: 'command_execution' } };
const claudeActs = {
  type: 'assistant',
  session_id: 's-1',
  message: { content: [{ type: 'tool_use', id: 't', name: 'Bash' }] },
};

const codex = ['codex', 'exec', '--json'];
const claude = ['claude', '-p', '--output-format', 'stream-json'];

/** The first attempt of a call. */
const contextOf = (call: object, effect?: Effect): AttemptContext => ({
  signal: new AbortController().signal,
  attempt: 1,
  maxAttempts: 4,
  mayRepeat: true,
  effect,
  call,
  touch: () => undefined,
  spent: () => undefined,
  rateLimit: () => undefined,
});

/** An attempt that ran into its limit before it did anything, and then acted while it was being ended. */
async function startLateAct(
  [command = '', ...args]: readonly string[],
  act: object,
  effect?: Effect,
  said: object = { type: 'system' },
) {
  const onRefused = (): void => undefined;
  const runs = new AgentRuns(new SimulatedClock(), { command, args }, { retry: presets.claudeCli.retry, onRefused });
  const context = contextOf({}, effect);
  const first = await runs.prepare({ prompt: 'hi' }, context);
  const say = (message: object): unknown =>
    first.input.onOutput?.(Buffer.from(`${JSON.stringify(message)}\n`), 'stdout');
  say(said);
  const facts = runs.amendTimeout(timedOut, context);
  say(act);
  await first.end();
  return { facts, next: runs.prepare({ prompt: 'hi' }, { ...context, attempt: 2 }) };
}

describe("an agent's run that acts while it is being ended", () => {
  it.each([
    [codex, codexActs, undefined],
    [codex, codexActs, 'mutating'],
    [claude, claudeActs, 'mutating'],
  ] as const)('[R-12] is not repeated: %o, %o, %s', async (command, act, effect) => {
    const { facts, next } = await startLateAct(command, act, effect);
    expect(facts.outcome).toBe('failed');
    await expect(next).rejects.toMatchObject({
      facts: { kind: 'unknown', outcome: 'unknown', shouldRetry: false, breaker: 'ignored' },
    });
  });

  it('[R-12] is gone on with where it has a session', async () => {
    const { next } = await startLateAct(claude, claudeActs);
    expect((await next).input.args).toContain('--resume');
  });

  it('[R-12] is repeated where its caller says that it is harmless', async () => {
    const { next } = await startLateAct(codex, codexActs, 'idempotent');
    expect((await next).input.stdin).toBe('hi');
  });
});

describe("an agent's run that tells nothing of what it did", () => {
  it.each([
    ['mutating', false],
    [undefined, false],
    ['idempotent', undefined],
  ] as const)('[R-12] may have acted, for a call that is %s', async (effect, shouldRetry) => {
    const { facts, next } = await startLateAct(['claude', '-p'], {}, effect);
    expect(facts).toMatchObject({ outcome: 'unknown' });
    expect(facts.shouldRetry).toBe(shouldRetry);
    const exit = { reason: 'exit', exitCode: 1, elapsedMs: 1, endedAt: 0, message: 'CLI exited.' } as const;
    const said = (text: string) => ({ text, bytes: text.length, omittedBytes: 0 });
    const run = await next;
    const conclude = () => run.conclude({ ...exit, stdout: said('API Error: 529 Overloaded'), stderr: said('') });
    expect(conclude).toThrow(
      expect.objectContaining({ facts: expect.objectContaining({ outcome: 'unknown' }) as unknown }),
    );
  });
});

describe("the signs of life of an agent's run", () => {
  const ping = { type: 'stream_event', event: { type: 'ping' } };
  const token = { type: 'stream_event', event: { type: 'content_block_delta', delta: { text: 'h' } } };

  it.each([
    [claude, [ping, ping], 0],
    [claude, [token, ping, token], 2],
    [claude, [{ type: 'assistant' }], 1],
    [codex, [{ type: 'error', message: 'Reconnecting... 1/5' }], 0],
    [codex, [{ type: 'item.started' }], 1],
  ])('[C-6] %j are of %j: %i', async ([command = '', ...args], messages, count) => {
    const { say, touches } = await startHeard(command, args);
    for (const message of messages) say(`${JSON.stringify(message)}\n`);
    expect(touches()).toBe(count);
  });

  it('[C-6] are none while a line drips', async () => {
    const { say, touches, tellsLife } = await startHeard('claude', claude.slice(1));
    expect(tellsLife).toBe(true);
    for (const byte of JSON.stringify(token)) say(byte);
    expect(touches()).toBe(0);
    say('\n');
    expect(touches()).toBe(1);
  });

  it('[S-2] are its output where that is no stream of messages', async () => {
    expect((await startHeard('claude', ['-p'])).tellsLife).toBe(false);
    expect((await startHeard('make', [])).tellsLife).toBe(false);
  });
});

async function startHeard(command: string, args: readonly string[], mayRepeat = false) {
  const onRefused = (): void => undefined;
  const runs = new AgentRuns(new SimulatedClock(), { command, args }, { retry: presets.claudeCli.retry, onRefused });
  let touches = 0;
  const context: AttemptContext = {
    signal: new AbortController().signal,
    attempt: 1,
    maxAttempts: 1,
    mayRepeat,
    effect: undefined,
    call: {},
    touch: () => void touches++,
    spent: () => undefined,
    rateLimit: () => undefined,
  };
  const { input, tellsLife } = await runs.prepare({}, context);
  const say = (text: string): unknown => input.onOutput?.(Buffer.from(text), 'stdout');
  return { say, tellsLife, args: input.args, touches: () => touches };
}

describe('the retries inside of Codex', () => {
  it.each([
    [true, ['-c', 'model_providers.mine.request_max_retries=0', '-c', 'model_providers.mine.stream_max_retries=0']],
    [false, []],
  ])(
    '[R-6] are switched off where the same may be asked again, though not by its call: %s',
    async (mayRepeat, added) => {
      const provider = ['-c', 'model_provider=mine'];
      const { args } = await startHeard('codex', ['exec', ...provider, '--json'], mayRepeat);
      expect(args).toEqual(['exec', ...added, ...provider, '--json']);
    },
  );

  it('[A-2] [R-12] is not gone on with in a session that could not be kept whole', async () => {
    const lost = { type: 'system', subtype: 'session_writes_lost', lost: ['transcript'] };
    const onRefused = (): void => undefined;
    const [command = '', ...args] = claude;
    const runs = new AgentRuns(new SimulatedClock(), { command, args }, { retry: presets.claudeCli.retry, onRefused });
    const context = contextOf({});
    const first = await runs.prepare({ prompt: 'hi' }, context);
    for (const message of [claudeActs, lost])
      first.input.onOutput?.(Buffer.from(`${JSON.stringify(message)}\n`), 'stdout');
    expect(runs.amendTimeout(timedOut, context)).toMatchObject({ outcome: 'unknown', shouldRetry: false });
    expect(runs.leftBy(context.call)).toMatchObject({ sessionLost: true, effects: 'possible' });
    await first.end();
  });

  it('[A-2] says that it waited for a person when its time was up', async () => {
    const asks = { type: 'system', subtype: 'session_state_changed', state: 'requires_action' };
    const { facts } = await startLateAct(claude, claudeActs, undefined, asks);
    expect(facts.message).toContain('Claude said last: it waits for a person to answer');
  });
});
