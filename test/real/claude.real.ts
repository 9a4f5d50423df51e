import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClaude } from '../../agents/claude/index.ts';
import { goOnPrompt } from '../../src/protocol/agentTrail.ts';
import { isAlive } from '../support/temporary.ts';
import { claudePath, hasClaude } from './claudeEnv.ts';
import { callsTool, fails, hangs, says } from './fakeAnthropic.ts';
import { startRealClaude } from './startRealClaude.ts';

const limited = fails(429, 'rate_limit_error', 'slow down');
const crowded = fails(529, 'overloaded_error', 'Overloaded');

describe.skipIf(!hasClaude)('the real claude', () => {
  it('[S-10] answers', async () => {
    const { claude } = await startRealClaude([says('hello')]);
    expect(await claude.call({ prompt: 'say hi' })).toMatchObject({
      ok: true,
      value: { agent: { text: 'hello', effects: 'none', concluded: true } },
    });
  });

  it('[R-6] asks again once inside an attempt of ours, and succeeds after a 429', async () => {
    const { claude, upstream } = await startRealClaude([limited, limited, says('hello')]);
    expect(await claude.call({ prompt: 'say hi' })).toMatchObject({ ok: true });
    expect(upstream.requests).toHaveLength(3);
  });

  it('[R-6] [S-10] whose attempts are used up by 429 made two requests for each and no more', async () => {
    const { claude, upstream } = await startRealClaude([limited]);
    const failure = { kind: 'rate_limit', status: 429, attempts: 3 };
    expect(await claude.call({ prompt: 'say hi' }, { maxAttempts: 3 })).toMatchObject({ ok: false, failure });
    expect(upstream.requests).toHaveLength(6);
  });

  it('[S-10] that meets 529 is overloaded', async () => {
    const { claude, upstream } = await startRealClaude([crowded]);
    const failure = { kind: 'overloaded', status: 529, attempts: 2 };
    expect(await claude.call({ prompt: 'say hi' }, { maxAttempts: 2 })).toMatchObject({ failure });
    expect(upstream.requests).toHaveLength(4);
  });

  it('[S-10] with a wrong key fails at once', async () => {
    const { claude, upstream } = await startRealClaude([fails(401, 'authentication_error', 'invalid x-api-key')]);
    expect(await claude.call({ prompt: 'say hi' })).toMatchObject({ failure: { kind: 'auth', attempts: 1 } });
    expect(upstream.requests).toHaveLength(2);
  });

  it('[S-9] as plain text is judged by what it prints instead of an answer', async () => {
    const { claude } = await startRealClaude([limited], { args: ['-p'] });
    expect(await claude.call({ prompt: 'say hi' }, { maxAttempts: 2, effect: 'readOnly' })).toMatchObject({
      failure: { kind: 'rate_limit', status: 429, attempts: 2 },
    });
  });

  it('[I-1] [S-3] that hangs is ended by our limit, and everything below it', async () => {
    const { claude, gateway, upstream } = await startRealClaude([hangs]);
    const started = gateway.wait('process.started');
    const exited = gateway.wait('process.exited');
    const failure = { kind: 'timeout', outcome: 'failed' };
    expect(await claude.call({ prompt: 'say hi' }, { maxAttempts: 1, attemptMs: 8000 })).toMatchObject({ failure });
    expect((await exited).reason).toBe('overall-timeout');
    expect(isAlive((await started).pid)).toBe(false);
    expect(upstream.requests.length).toBeGreaterThan(0);
  });

  it('[R-12] [I-3] killed in the middle of its tools goes on in its session, and leaves no shell behind', async () => {
    const script = [
      callsTool('Bash', { command: 'echo done >> effects; echo $$ > shell' }),
      callsTool('Bash', { command: 'echo $$ > shell; until false; do sleep 1; done' }),
      says('went on'),
    ];
    const { claude, gateway, upstream, cwd } = await startRealClaude(script);
    const started = gateway.wait('process.started');
    const outcome = claude.call({ prompt: 'do it' });
    const { pid } = await started;
    await upstream.reached(2);
    const first = readFileSync(join(cwd, 'shell'), 'utf8');
    await vi.waitUntil(() => readFileSync(join(cwd, 'shell'), 'utf8') !== first, { timeout: 60_000 });
    process.kill(pid, 'SIGKILL');
    expect(await outcome).toMatchObject({ ok: true, value: { agent: { text: 'went on' } } });
    const asked = JSON.stringify(upstream.requests.at(-1)?.body.messages);
    expect(asked).toContain('echo done >> effects');
    expect(asked).toContain(goOnPrompt);
    expect(readFileSync(join(cwd, 'effects'), 'utf8')).toBe('done\n');
    // Ended behind the answer.
    await vi.waitUntil(() => !isAlive(Number(readFileSync(join(cwd, 'shell'), 'utf8'))), { timeout: 20_000 });
  });

  it('[R-12] with a prompt among its arguments hears besides that it was interrupted', async () => {
    const script = [callsTool('Bash', { command: 'echo x' }), crowded, crowded, says('went on')];
    const args = ['-p', 'do it', '--output-format', 'stream-json', '--verbose', '--allowedTools', 'Bash'];
    const { claude, upstream } = await startRealClaude(script, { args });
    expect(await claude.call({})).toMatchObject({ ok: true });
    expect(JSON.stringify(upstream.requests.at(-1)?.body.messages)).toContain(goOnPrompt);
  });

  it('[S-10] whose prompt a hook declines has failed, without saying the prompt', async () => {
    const settings = {
      hooks: { UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'echo nope >&2; exit 2' }] }] },
    };
    const { claude, upstream } = await startRealClaude([says('hello')]);
    const outcome = await claude.call({ args: ['--settings', JSON.stringify(settings)], prompt: 'my secret' });
    expect(outcome).toMatchObject({ failure: { kind: 'permanent', attempts: 1 } });
    expect(JSON.stringify(outcome)).not.toContain('my secret');
    expect(upstream.requests).toHaveLength(0);
  });

  it('[C-1] asked by invokeClaude gets model, system prompt and the limit on tokens as given', async () => {
    const { upstream, env, cwd, home } = await startRealClaude([says('hello')]);
    const claude = createClaude({ command: claudePath, cwd, env, logDir: join(home, 'logs'), model: 'claude-fake-1' });
    onTestFinished(() => claude.stop());
    for (const systemPrompt of ['-p "$(x)"', 'y'.repeat(10_001)]) {
      const result = await claude.invokeClaude('say hi', { systemPrompt, maxTokens: 1234 });
      expect(result).toMatchObject({ success: true, output: 'hello', attempts: 1 });
      const body = JSON.stringify(upstream.requests.at(-1)?.body);
      expect(upstream.requests.at(-1)?.body).toMatchObject({ model: 'claude-fake-1', max_tokens: 1234 });
      expect(body).toContain(JSON.stringify(systemPrompt).slice(1, -1));
    }
    expect(existsSync(join(home, 'logs', 'claude_invocations.jsonl'))).toBe(true);
  });

  it('[S-5] reads a prompt of 200 kB', async () => {
    const { claude, upstream } = await startRealClaude([says('hello')]);
    expect(await claude.call({ prompt: `${'word '.repeat(40_000)}END` })).toMatchObject({ ok: true });
    expect(JSON.stringify(upstream.requests[0]?.body)).toContain('word END');
  });
});
