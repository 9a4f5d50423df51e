import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway, type RunRequest, type SubprocessOptions } from '../../../../src/index.ts';
import { badKey, fakeClaude, type FakeRun, overloaded } from '../../../support/fakeClaude.ts';

const quick = { backoff: { kind: 'constant', delayMs: 1, jitter: { kind: 'none' } } } as const;
const stream = ['-p', '--output-format', 'stream-json', '--verbose'];

async function startClaude(
  script: readonly FakeRun[],
  args: readonly string[],
  options: Partial<SubprocessOptions> = {},
  warn: (line: string) => void = () => undefined,
) {
  const fake = fakeClaude(...script);
  const ignore = (): void => undefined;
  const gateway = createGateway({ logger: { debug: ignore, info: ignore, error: ignore, warn } });
  onTestFinished(() => gateway.stop());
  const claude = gateway.subprocess('claude', {
    command: fake.command,
    args: [...fake.args, ...args],
    env: fake.env,
    agent: 'claude',
    graceMs: 200,
    policy: { retry: quick },
    ...options,
  });
  await gateway.start();
  return { fake, claude, run: (request: RunRequest = { prompt: 'say hi' }, call = {}) => claude.call(request, call) };
}

describe('a run of claude', () => {
  it('[S-10] gives its answer and its session', async () => {
    const { run } = await startClaude([{ text: 'hello' }], stream);
    expect(await run()).toMatchObject({ ok: true, value: { exitCode: 0, agent: { text: 'hello', sessionId: 's-1' } } });
  });

  it('[S-10] that exits with 0 after an error has failed', async () => {
    const { run } = await startClaude([{ ...badKey, exit: 0 }], stream);
    expect(await run()).toMatchObject({ ok: false, failure: { kind: 'auth', status: 401, attempts: 1 } });
  });

  it('[S-10] that exits with 1 after its answer has succeeded', async () => {
    const { run } = await startClaude([{ text: 'hello', exit: 1 }], [...stream]);
    expect(await run()).toMatchObject({ ok: true, value: { exitCode: 1, agent: { text: 'hello' } } });
  });

  it('[S-10] in json is understood as well', async () => {
    const { run } = await startClaude([overloaded, { text: 'hello' }], ['-p', '--output-format', 'json']);
    expect(await run()).toMatchObject({ ok: true, value: { agent: { text: 'hello' } } });
  });

  it('[S-2] may be silent until its end, unless it streams', async () => {
    const idleMs = async (args: readonly string[]) => (await startClaude([{}], args)).claude.policy.limits.idleMs;
    expect(await idleMs(['-p'])).toBe(Number.POSITIVE_INFINITY);
    expect(await idleMs(['-p', '--output-format', 'json'])).toBe(Number.POSITIVE_INFINITY);
    expect(await idleMs(stream)).toBe(180_000);
  });

  it('[S-9] as text is judged by what it prints instead of an answer', async () => {
    const { run } = await startClaude([overloaded, { text: 'hello' }], ['-p']);
    const harmless = { effect: 'idempotent' } as const;
    expect(await run(undefined, harmless)).toMatchObject({ ok: true, value: { agent: { text: 'hello' } } });
    const { run: again } = await startClaude([badKey], ['-p']);
    expect(await again()).toMatchObject({ failure: { kind: 'auth', message: badKey.error, attempts: 1 } });
  });

  it('[S-9] as text that answers about errors has succeeded', async () => {
    const { run } = await startClaude([{ text: 'API Error: 401 means that the key is wrong' }], ['-p']);
    expect(await run()).toMatchObject({ ok: true });
  });

  it('[S-9] that prints nothing at all is an empty answer', async () => {
    const { run } = await startClaude([{ text: '' }], ['-p']);
    expect(await run(undefined, { maxAttempts: 1 })).toMatchObject({
      failure: { kind: 'unknown', reason: 'empty_response' },
    });
  });

  it('[S-10] that fails at its start says what it wrote to stderr', async () => {
    const stderr = "error: unknown option '--no-such-flag'\n";
    const { run } = await startClaude([{ stderr, silent: true, exit: 1 }], ['-p', '--output-format', 'json']);
    expect(await run(undefined, { maxAttempts: 1 })).toMatchObject({
      failure: { kind: 'permanent', message: stderr.trim() },
    });
  });
});

describe('the retries inside of claude', () => {
  it('[R-6] are bounded to one where ours are on', async () => {
    const { run, fake } = await startClaude([overloaded, { text: 'hello' }], stream);
    await run();
    expect(fake.runs().map(({ retries }) => retries)).toEqual(['1', '1']);
  });

  it('[R-6] are left alone where ours are off, or where the user has set them', async () => {
    const { run, fake } = await startClaude([{ text: 'hello' }], stream);
    await run(undefined, { maxAttempts: 1 });
    expect(fake.runs()[0]?.retries).toBe(process.env['CLAUDE_CODE_MAX_RETRIES']);
    const set = fakeClaude({ text: 'hello' });
    const own = await startClaude([], stream, {
      args: [...set.args, ...stream],
      env: { ...set.env, CLAUDE_CODE_MAX_RETRIES: '7' },
    });
    await own.run();
    expect(set.runs()[0]?.retries).toBe('7');
  });
});

describe('a run of claude that may have changed something', () => {
  it('[R-12] is gone on with in its session, not repeated', async () => {
    const { run, fake } = await startClaude([{ ...overloaded, tools: ['Bash'] }, { text: 'done' }], stream);
    expect(await run()).toMatchObject({ ok: true, value: { agent: { text: 'done' } } });
    const [first, second] = fake.runs();
    expect(first).toMatchObject({ args: stream, stdin: 'say hi' });
    expect(second?.args).toEqual([...fake.args.slice(1), '--resume', 's-1', ...stream]);
    expect(second?.stdin).toContain('Go on');
  });

  it.each([
    ['fails', overloaded],
    ['dies without a word', { silent: true, exit: 1, stderr: 'HTTP 503' }],
  ])('[R-12] is gone on with still after a second attempt that %s before it acts', async (_, before) => {
    const script = [{ ...overloaded, tools: ['Bash'] }, before, before, { text: 'done' }];
    const { run, fake } = await startClaude(script, stream);
    expect(await run()).toMatchObject({ ok: true, value: { agent: { text: 'done' } } });
    for (const later of fake.runs().slice(1)) {
      expect(later.args).toContain('--resume');
      expect(later.stdin).toContain('Go on');
    }
  });

  it('[R-12] as text, which does not tell, is tried once, and that is said once', async () => {
    const warn = vi.fn<(line: string) => void>();
    const { run, fake } = await startClaude([overloaded], ['-p'], {}, warn);
    const failure = { kind: 'overloaded', outcome: 'unknown', attempts: 1 };
    expect(await run()).toMatchObject({ failure });
    expect(await run()).toMatchObject({ failure });
    expect(fake.runs()).toHaveLength(2);
    const said = warn.mock.calls.map(([line]) => line).filter((line) => line.includes('not tried again'));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain('--output-format stream-json --verbose');
    expect(said[0]).toContain('effect idempotent');
  });

  it('[R-12] says nothing of attempts where none would be made', async () => {
    const warn = vi.fn<(line: string) => void>();
    const { run } = await startClaude([badKey], ['-p'], {}, warn);
    await run();
    await run(undefined, { maxAttempts: 1 });
    expect(warn.mock.calls.filter(([line]) => line.includes('not tried again'))).toEqual([]);
  });

  it('[R-12] [I-1] is gone on with after it was killed by its limit', async () => {
    const { run, fake } = await startClaude([{ tools: ['Bash'], hang: true }, { text: 'done' }], stream);
    expect(await run(undefined, { idleMs: 1500 })).toMatchObject({ ok: true });
    expect(fake.runs()[1]?.args).toContain('--resume');
  });

  it('[R-12] is gone on with only when the process before is gone', async () => {
    const stubborn = { tools: ['Bash'], hang: true, stubborn: true };
    const { run, fake } = await startClaude([stubborn, { text: 'done' }], stream, { graceMs: 1500 });
    expect(await run(undefined, { idleMs: 2500 })).toMatchObject({ ok: true });
    expect(fake.runs()[1]?.alone).toBe(true);
  });

  it('[R-12] is not tried again when its session is not kept', async () => {
    const args = [...stream, '--no-session-persistence'];
    const { run, fake } = await startClaude([{ ...overloaded, tools: ['Bash'] }], args);
    expect(await run()).toMatchObject({
      failure: { kind: 'overloaded', outcome: 'unknown', retryable: false, attempts: 1 },
    });
    expect(fake.runs()).toHaveLength(1);
  });

  it('[R-12] is repeated when the caller says that it is harmless', async () => {
    const args = [...stream, '--no-session-persistence'];
    const { run } = await startClaude([{ ...overloaded, tools: ['Bash'] }, { text: 'done' }], args);
    expect(await run(undefined, { effect: 'readOnly' })).toMatchObject({ ok: true });
  });

  it('[R-12] goes on where the policy would not repeat what may have taken effect', async () => {
    const policy = { retry: { ...quick, repeatAfter: 'broken' as const } };
    const { run } = await startClaude([{ tools: ['Bash'], kill: 'SIGKILL' }, { text: 'done' }], stream, { policy });
    expect(await run()).toMatchObject({ ok: true });
  });

  it('[R-12] leaves its outcome unknown when its session is not found again', async () => {
    const lost = { error: 'No conversation found with session ID: s-1' };
    const { run } = await startClaude([{ tools: ['Bash'], kill: 'SIGKILL' }, lost], stream);
    expect(await run()).toMatchObject({ failure: { kind: 'permanent', outcome: 'unknown', attempts: 2 } });
  });

  it('[R-12] has had no effect when only reading tools ran, and begins anew', async () => {
    const policy = { retry: { ...quick, repeatAfter: 'broken' as const } };
    const { run, fake } = await startClaude([{ tools: ['Read'], kill: 'SIGKILL' }, { text: 'done' }], stream, {
      policy,
    });
    expect(await run()).toMatchObject({ ok: true });
    expect(fake.runs()[1]).toMatchObject({ args: stream, stdin: 'say hi' });
  });

  it('[R-12] resumes a session that was named beforehand, since it cannot begin twice', async () => {
    const { run, fake } = await startClaude([overloaded, { text: 'done' }], [...stream, '--session-id', 'abc']);
    expect(await run()).toMatchObject({ ok: true });
    expect(fake.runs()[1]).toMatchObject({ args: ['--resume', 'abc', ...stream], stdin: 'say hi' });
  });
});
