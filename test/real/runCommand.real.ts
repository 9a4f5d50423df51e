import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { goOnPrompt } from '../../src/protocol/agentTrail.ts';
import { claudePath, hasClaude } from './claudeEnv.ts';
import { codexPath, hasCodex } from './codexEnv.ts';
import { callsTool, cutBehind, fails, says } from './fakeAnthropic.ts';
import { breaksAfter, refuses, responds } from './fakeOpenai.ts';
import { runOverClaude, runOverCodex } from './startRealRun.ts';

const stream = ['--output-format', 'stream-json', '--verbose', '--allowedTools', 'Bash'];
const claude = [claudePath, '-p', 'do it'];
const crowded = fails(529, 'overloaded_error', 'Overloaded');
const limited = fails(429, 'rate_limit_error', 'slow down');
const limitedForAnHour = fails(429, 'rate_limit_error', 'slow down', { 'retry-after': '3600' });
const attempts = (count: number): string[] => ['--attempts', String(count), '--policy', 'toolCall'];

describe.skipIf(!hasClaude)('unwedge run over the real claude', () => {
  it.each([
    ['stream-json', stream, 'quota: API Error: Request rejected (429) · slow down; Claude does not tell how long'],
    ['json', ['--output-format', 'json'], 'rate_limit: API Error: Request rejected (429) · slow down; Claude does not'],
    ['text', [], 'rate_limit: API Error: Request rejected (429) · slow down; try again later'],
  ])('[M-13] [L-4] asks once when it is limited for an hour, and says what is known: %s', async (_, more, line) => {
    const { code, stderr, upstream } = await runOverClaude(
      [limitedForAnHour],
      [...attempts(4), '--', ...claude, ...more],
    );
    expect({ code, requests: upstream.requests.length }).toEqual({ code: 75, requests: 1 });
    expect(stderr).toContain(`unwedge: ${line}`);
  });

  it.each([
    ['stream-json', stream, []],
    ['json', ['--output-format', 'json'], []],
    ['json, held back', ['--output-format', 'json'], attempts(2)],
  ])('[R-14] gives an answer that was cut and gone on with as a whole: %s', async (_, more, own) => {
    const script = [cutBehind('first half, '), says('second half.')];
    const { code, stdout, upstream } = await runOverClaude(script, [...own, '--', ...claude, ...more]);
    expect({ code, requests: upstream.requests.length }).toEqual({ code: 0, requests: 2 });
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ result: 'first half, second half.' });
  });

  it('[R-6] tries again when it is limited for a moment, with at most one retry inside', async () => {
    const script = [limited, limited, says('hello')];
    const { code, upstream } = await runOverClaude(script, [...attempts(3), '--', ...claude, ...stream]);
    expect({ code, requests: upstream.requests.length }).toEqual({ code: 0, requests: 3 });
  });

  it('[R-12] [L-4] runs a tool once, though two attempts after it fail before they act', async () => {
    const script = [
      callsTool('Bash', { command: 'echo x >> effect' }),
      crowded,
      crowded,
      crowded,
      crowded,
      says('done'),
    ];
    const { code, upstream, cwd } = await runOverClaude(script, [...attempts(3), '--', ...claude, ...stream]);
    expect({ code, requests: upstream.requests.length }).toEqual({ code: 0, requests: 6 });
    expect(readFileSync(join(cwd, 'effect'), 'utf8')).toBe('x\n');
    expect(JSON.stringify(upstream.requests.at(-1)?.body.messages)).toContain(goOnPrompt);
  });

  it('[R-12] [L-4] as text is tried once', async () => {
    const env = { CLAUDE_CODE_MAX_RETRIES: '0' };
    const words = [...attempts(3), '--', ...claude];
    const { code, stderr, upstream } = await runOverClaude([crowded], words, env);
    expect({ code, requests: upstream.requests.length }).toEqual({ code: 75, requests: 1 });
    expect(stderr).toContain('unwedge: not tried again: this output of Claude does not tell what it has done');
  });
});

const codex = [codexPath, 'exec', '--json', '--skip-git-repo-check', 'do it'];
const away = refuses(503, 'away');

describe.skipIf(!hasCodex)('unwedge run over the real codex exec', () => {
  it.each([
    ['refuses', away],
    ['breaks off', breaksAfter('hal')],
  ])('[R-6] makes one request for each of our attempts to an upstream that %s', async (_, reply) => {
    const { code, upstream } = await runOverCodex([reply], [...attempts(3), '--', ...codex]);
    expect({ code, requests: upstream.requests.length }).toEqual({ code: 1, requests: 3 });
  });

  it('[R-6] succeeds by an attempt of ours', async () => {
    const { code, upstream } = await runOverCodex([away, responds('hello')], [...attempts(3), '--', ...codex]);
    expect({ code, requests: upstream.requests.length }).toEqual({ code: 0, requests: 2 });
  });

  it('[R-6] leaves a failure alone that Codex has repeated by its own settings', async () => {
    const own = ['request_max_retries=0', 'stream_max_retries=1'];
    const set = own.flatMap((each) => ['-c', `model_providers.fake.${each}`]);
    const { code, stderr, upstream } = await runOverCodex([away], [...attempts(3), '--', ...codex, ...set]);
    expect({ code, requests: upstream.requests.length }).toEqual({ code: 1, requests: 2 });
    expect(stderr).toContain('unwedge: not tried again: Codex has asked again by itself; --retry always begins anew');
  });
});
