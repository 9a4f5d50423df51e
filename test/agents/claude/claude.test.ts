import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CallableIntegration } from '../../../src/calls/integration.ts';
import { createClaude, invokeClaude } from '../../../agents/claude/index.ts';
import { createGateway } from '../../../src/index.ts';
import { badKey, fakeClaude, rateLimited } from '../../support/fakeClaude.ts';
import { startClaude } from '../../support/startClaude.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const unsure = { error: 'API Error: nobody knows' };

/** Sets variables of the environment for this test. */
function setVariables(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
}

describe('a call of Claude', () => {
  it('[C-1] that succeeds gives its output after one attempt', async () => {
    const { invoke } = await startClaude([{ text: 'hello' }]);
    expect(await invoke()).toEqual({
      success: true,
      output: 'hello',
      error: null,
      attempts: 1,
      totalWaitTime: 0,
      errorType: null,
    });
  });

  it('[C-1] [I-1] ends when its Claude is stopped, which leaves the gateway of others alone', async () => {
    const { claude, gateway, log, settled } = await startClaude([{ hang: true }]);
    const ended = vi.fn<() => void>();
    const running = claude.invokeClaude('say hi').finally(ended);
    await settled(gateway.wait('process.started'));
    await settled(claude.stop());
    expect(ended).toHaveBeenCalled();
    expect(await running).toMatchObject({ success: false, error: 'Cancelled: Claude is stopped', attempts: 1 });
    expect(log()).toMatchObject([{ status: 'error' }]);
    expect(await claude.invokeClaude('again')).toMatchObject({ success: false, error: 'Cancelled: Claude is stopped' });
    await gateway.integration('other', {}, () => 'fine').call(1);
  });

  it('[R-8] [C-1] still ends by the signal of its caller', async () => {
    const { claude, gateway, settled } = await startClaude([{ hang: true }]);
    const controller = new AbortController();
    const running = claude.invokeClaude('say hi', { signal: controller.signal });
    await settled(gateway.wait('process.started'));
    controller.abort(new Error('enough'));
    expect(await settled(running)).toMatchObject({ success: false, error: 'Cancelled: enough' });
  });

  it('[C-2] is tried again after a rate limit, and succeeds', async () => {
    const { invoke } = await startClaude([rateLimited, rateLimited, { text: 'hello' }]);
    expect(await invoke()).toMatchObject({ success: true, output: 'hello', attempts: 3, totalWaitTime: 6 });
  });

  it('[R-12] [C-2] goes on where it acted, also after an attempt that failed before it did', async () => {
    const { invoke, fake } = await startClaude([{ ...rateLimited, tools: ['Bash'] }, rateLimited, { text: 'done' }]);
    expect(await invoke()).toMatchObject({ success: true, output: 'done', attempts: 3 });
    const [, second, third] = fake.runs();
    for (const later of [second, third]) {
      expect(later?.args).toContain('--resume');
      expect(later?.stdin).toContain('Go on');
    }
  });

  it('[C-4] whose attempts are used up by rate limits says to come back later', async () => {
    const { invoke, fake } = await startClaude([rateLimited]);
    expect(await invoke()).toMatchObject({
      success: false,
      output: null,
      error: 'Rate limit - retry later: API Error: Request rejected (429) · slow down',
      attempts: 5,
      totalWaitTime: 30,
      errorType: 'rate_limit',
    });
    expect(fake.runs()).toHaveLength(5);
  });

  it('[C-4] without credit says to come back later at once', async () => {
    const broke = { status: 400, error: 'Credit balance is too low' };
    const { invoke } = await startClaude([broke]);
    expect(await invoke()).toMatchObject({ success: false, attempts: 1, errorType: 'rate_limit' });
  });

  it('[C-2] with a wrong key is not tried again', async () => {
    const { invoke, waits } = await startClaude([badKey]);
    expect(await invoke()).toMatchObject({ success: false, errorType: 'auth', attempts: 1, totalWaitTime: 0 });
    expect(waits).toEqual([]);
  });

  it('[C-2] that takes longer than its timeout is ended and tried again', async () => {
    const { invoke, stall } = await startClaude([{ hang: true }, { text: 'hello' }]);
    stall(1, 7000);
    expect(await invoke('say hi', { timeout: 7 })).toMatchObject({ success: true, attempts: 2, totalWaitTime: 2 });
  });

  it.each([
    [{}, 1_800_000],
    [{ timeout: 3600 }, 5 * 3_600_000 + 300_000],
    [{ timeout: 600, retry: { maxRetries: 1 } }, 1_800_000],
  ])('[C-1] with %o has %d ms for all its attempts and waits', async (options, overallMs) => {
    const { claude } = await startClaude([{ text: 'hello' }]);
    const call = vi.spyOn(CallableIntegration.prototype, 'call');
    onTestFinished(() => call.mockRestore());
    await claude.stop();
    await claude.invokeClaude('say hi', options);
    expect(call).toHaveBeenCalledWith(expect.anything(), expect.objectContaining({ overallMs }));
  });

  it('[C-2] that only times out reports a timeout', async () => {
    const { invoke, stall } = await startClaude([{ hang: true }]);
    stall(1, 7000);
    stall(2, 7000);
    const error = 'CLI exceeded timeout (7s) and was terminated.';
    const result = await invoke('say hi', { timeout: 7, retry: { maxRetries: 2 } });
    expect(result).toMatchObject({ success: false, errorType: 'timeout', attempts: 2, error });
  });

  it('[C-2] that fails in a way nobody knows is tried again', async () => {
    const { invoke } = await startClaude([unsure, { text: 'hello' }]);
    expect(await invoke()).toMatchObject({ success: true, attempts: 2 });
  });

  it('[C-2] reports what its last attempt failed of', async () => {
    const { invoke } = await startClaude([rateLimited, unsure]);
    expect(await invoke('say hi', { retry: { maxRetries: 2 } })).toMatchObject({ attempts: 2, errorType: 'unknown' });
  });

  it('[C-2] waits 2, 4, 8, 16 and 32 s, and never longer than its cap', async () => {
    const { invoke, waits } = await startClaude([rateLimited]);
    await invoke('say hi', { retry: { maxRetries: 6 } });
    expect(waits.splice(0)).toEqual([2000, 4000, 8000, 16_000, 32_000]);
    await invoke('say hi', { retry: { maxRetries: 6, maxDelay: 10 } });
    expect(waits).toEqual([2000, 4000, 8000, 10_000, 10_000]);
  });

  it('[C-2] spreads its waits by 20 % to either side', async () => {
    const low = await startClaude([rateLimited], { random: () => 0 });
    await low.invoke('say hi', { retry: { maxRetries: 3 } });
    expect(low.waits).toEqual([1600, 3200]);
    const high = await startClaude([rateLimited], { random: () => 1 });
    await high.invoke('say hi', { retry: { maxRetries: 3 } });
    expect(high.waits).toEqual([2400, 4800]);
  });

  it('[C-1] takes metacharacters literally, in prompt, model and system prompt', async () => {
    const { invoke, fake } = await startClaude([{ text: 'hello' }]);
    const wild = `-p '"$(rm -rf /)" \`x\` \${HOME} ; | & > * \\ {prompt}\n\té`;
    await invoke(wild, { model: wild, systemPrompt: wild });
    const [run] = fake.runs();
    expect(run?.stdin).toBe(wild);
    expect(run?.args.slice(-2)).toEqual([`--model=${wild}`, `--system-prompt=${wild}`]);
  });

  it('[C-1] limits its answer to 4096 tokens, or to what it is told', async () => {
    const { invoke, fake } = await startClaude([{ text: 'hello' }]);
    await invoke();
    await invoke('say hi', { maxTokens: 100 });
    const settings = fake.runs().map(({ args }) => args[args.indexOf('--settings') + 1]);
    expect(settings).toEqual(['4096', '100'].map((n) => `{"env":{"CLAUDE_CODE_MAX_OUTPUT_TOKENS":"${n}"}}`));
  });

  it('[C-1] [S-5] gives a system prompt of 10,001 bytes as a file that is gone afterwards', async () => {
    const { invoke, fake } = await startClaude([{ text: 'hello' }]);
    await invoke('say hi', { systemPrompt: 'x'.repeat(10_000) });
    await invoke('say hi', { systemPrompt: 'x'.repeat(10_001) });
    const [inline, file] = fake.runs().map(({ args }) => args.at(-1) ?? '');
    expect(inline).toBe(`--system-prompt=${'x'.repeat(10_000)}`);
    expect(file).toMatch(/^--system-prompt-file=.*unwedge-prompt-/);
    expect(existsSync(file?.split('=')[1] ?? '')).toBe(false);
  });

  it('[C-1] never throws: what cannot be asked is a result', async () => {
    const { invoke, claude, settled } = await startClaude([{ text: 'hello' }]);
    expect(await invoke('')).toMatchObject({ success: false, error: 'The prompt is empty', errorType: 'unknown' });
    const refused = { success: false, attempts: 0, errorType: 'unknown' };
    expect(await invoke('say hi', { timeout: -1 })).toMatchObject({ ...refused, error: expectedTimeout });
    const notText = claude.invokeClaude(7 as unknown as string);
    expect(await settled(notText)).toMatchObject({ ...refused, error: 'Expected `prompt` to be a string' });
  });

  it('[C-1] that is aborted ends at once', async () => {
    const { invoke, gateway } = await startClaude([{ hang: true }]);
    const controller = new AbortController();
    gateway.once('process.started', () => controller.abort());
    expect(await invoke('say hi', { signal: controller.signal })).toMatchObject({ success: false, attempts: 1 });
  });

  it('[C-2] waits 300 s in all at most', async () => {
    const { invoke, waits } = await startClaude([rateLimited]);
    const result = await invoke('say hi', { retry: { maxRetries: 9, baseDelay: 100, maxDelay: 100 } });
    expect(waits).toEqual([100_000, 100_000, 100_000]);
    expect(result).toMatchObject({ attempts: 4, totalWaitTime: 300, errorType: 'rate_limit' });
  });
});

const expectedTimeout = 'Expected `options.timeout` to be a number of seconds above 0, got -1';

describe('the environment of Claude', () => {
  it('[C-3] gives the defaults of retries', async () => {
    setVariables({
      CLAUDE_MAX_RETRIES: '3',
      CLAUDE_BASE_DELAY: '0.5',
      CLAUDE_MAX_DELAY: '0.75',
      CLAUDE_JITTER_FACTOR: '0',
    });
    const { invoke, waits } = await startClaude([rateLimited], { random: () => 1 });
    expect(await invoke()).toMatchObject({ attempts: 3 });
    expect(waits).toEqual([500, 750]);
  });

  it('[C-3] gives way to options, and those to the options of a call', async () => {
    setVariables({ CLAUDE_MAX_RETRIES: '9', CLAUDE_BASE_DELAY: '9' });
    const { invoke, waits } = await startClaude([rateLimited], { retry: { maxRetries: 4, baseDelay: 1 } });
    expect(await invoke('say hi', { retry: { maxRetries: 2 } })).toMatchObject({ attempts: 2 });
    expect(waits).toEqual([1000]);
  });

  it.each([
    ['CLAUDE_MAX_RETRIES', '0'],
    ['CLAUDE_MAX_RETRIES', '1.5'],
    ['CLAUDE_MAX_RETRIES', 'many'],
    ['CLAUDE_BASE_DELAY', '-1'],
    ['CLAUDE_BASE_DELAY', '0'],
    ['CLAUDE_MAX_DELAY', 'NaN'],
    ['CLAUDE_JITTER_FACTOR', '1.1'],
  ])('[C-3] with %s=%s is refused by name', (name, value) => {
    setVariables({ [name]: value });
    expect(() => createClaude()).toThrow(RangeError);
    expect(() => createClaude()).toThrow(`\`${name}\``);
  });

  it('[C-3] that is empty says nothing', () => {
    setVariables({ CLAUDE_MAX_RETRIES: '', CLAUDE_BASE_DELAY: ' ' });
    expect(() => createClaude()).not.toThrow();
  });

  it('[C-1] has options of its kind only', () => {
    expect(() => createClaude({ timeout: 0 })).toThrow('`options.timeout`');
    expect(() => createClaude({ gateway: {} as never })).toThrow('`options.gateway.subprocess`');
    expect(() => createClaude({ retry: { jitterFactor: 2 } })).toThrow('`options.retry.jitterFactor`');
    expect(() => createClaude({ modell: 'x' } as object)).toThrow('did you mean model?');
  });

  it('[C-3] leaves the choice of retries inside of Claude to who made one', async () => {
    setVariables({ CLAUDE_CODE_MAX_RETRIES: '2' });
    const { invoke, fake } = await startClaude([{ text: 'hello' }]);
    await invoke();
    expect(fake.runs()[0]?.retries).toBe('2');
  });
});

describe('the log of Claude', () => {
  it('[C-5] has a line for each attempt, without the prompt', async () => {
    const { invoke, log, logDir } = await startClaude([rateLimited, { text: 'hello' }]);
    await invoke('my secret plan');
    expect(log()).toMatchObject([
      { attempt: 1, status: 'retry', error_type: 'rate_limit', wait_time: 2, response_time: 0 },
      { attempt: 2, status: 'success', error_type: null, wait_time: 0, response_time: 0 },
    ]);
    const [first] = log();
    expect(first?.prompt_hash).toBe(createHash('sha256').update('my secret plan').digest('hex'));
    expect(first?.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(readFileSync(join(logDir, 'claude_invocations.jsonl'), 'utf8')).not.toContain('secret');
  });

  it('[C-5] has a line of its own when the attempts are used up, and none after an error that is final', async () => {
    const { invoke, log } = await startClaude([rateLimited, rateLimited, badKey]);
    await invoke('say hi', { retry: { maxRetries: 2 } });
    await invoke('say hi');
    expect(log().map(({ attempt, status, wait_time }) => [attempt, status, wait_time])).toEqual([
      [1, 'retry', 2],
      [2, 'error', 0],
      [2, 'exhausted', 2],
      [1, 'error', 0],
    ]);
  });

  it('[C-5] is private, in a directory that is made for it', async () => {
    const { invoke, logDir } = await startClaude([{ text: 'hello' }]);
    await invoke();
    expect((statSync(join(logDir, 'claude_invocations.jsonl')).mode & 0o777).toString(8)).toBe('600');
    expect((statSync(logDir).mode & 0o777).toString(8)).toBe('700');
  });

  it('[C-5] is made private when it was not', async () => {
    const logDir = temporaryDirectory();
    const file = join(logDir, 'claude_invocations.jsonl');
    writeFileSync(file, '');
    chmodSync(file, 0o644);
    const { invoke } = await startClaude([{ text: 'hello' }], { logDir });
    await invoke();
    expect((statSync(file).mode & 0o777).toString(8)).toBe('600');
  });

  it('[C-5] [C-3] is where the call, the options or CLAUDE_LOG_DIR say', async () => {
    const [fromVariable, fromCall] = [temporaryDirectory(), temporaryDirectory()];
    setVariables({ CLAUDE_LOG_DIR: fromVariable });
    const { invoke, log } = await startClaude([{ text: 'hello' }], { logDir: undefined });
    await invoke();
    await invoke('say hi', { logDir: fromCall });
    expect([log(fromVariable).length, log(fromCall).length]).toEqual([1, 1]);
  });

  it('[C-5] that cannot be written is said once, and fails no call', async () => {
    const blocker = join(temporaryDirectory(), 'file');
    writeFileSync(blocker, '');
    const said: string[] = [];
    const none = () => undefined;
    const logger = { debug: none, info: none, error: none, warn: (message: string) => void said.push(message) };
    const { invoke } = await startClaude([rateLimited, { text: 'hello' }], { logDir: join(blocker, 'logs'), logger });
    expect(await invoke()).toMatchObject({ success: true });
    expect(said).toEqual([expect.stringContaining('cannot be written')]);
  });

  it('[C-5] can be switched off', async () => {
    const { invoke, log } = await startClaude([{ text: 'hello' }], { log: false });
    await invoke();
    expect(log()).toEqual([]);
  });
});

describe('Claude under a gateway', () => {
  it('[C-2] [U-1] is one of its integrations: supervised, behind its breaker, in its events', async () => {
    const { invoke, gateway, claude, settled } = await startClaude([unsure]);
    await invoke('say hi');
    expect(gateway.tree().children?.map(({ id }) => id)).toContain('integration:claude');
    const refused = await settled(claude.invokeClaude('say hi'));
    expect(refused).toMatchObject({ success: false, attempts: 0, errorType: 'unknown' });
  });

  it('[C-1] brings one of its own when it is given none, and leaves nothing behind', async () => {
    const fake = fakeClaude({ text: 'hello' });
    const { command, args, env } = fake;
    const result = await invokeClaude('say hi', { command, args, env, logDir: join(fake.directory, 'logs') });
    expect(result).toMatchObject({ success: true, output: 'hello' });
    expect(existsSync(join(fake.directory, 'logs', 'claude_invocations.jsonl'))).toBe(true);
  });

  it('[C-1] [S-4] that is not installed is a result', async () => {
    const logDir = temporaryDirectory();
    const result = await invokeClaude('say hi', { command: 'no-such-claude', logDir });
    expect(result).toMatchObject({ success: false, attempts: 1, errorType: 'unknown' });
    expect(result.error).toContain('no such command');
  });

  it('[C-1] refuses a name that is taken', () => {
    const gateway = createGateway();
    createClaude({ gateway });
    expect(() => createClaude({ gateway })).toThrow(RangeError);
  });
});
