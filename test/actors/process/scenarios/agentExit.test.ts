import { describe, expect, it } from 'vitest';
import { agentExitFacts } from '../../../../src/actors/process/processExit.ts';
import type { ProcessExit } from '../../../../src/machines/subprocess.ts';
import { profilesFrom } from '../../../../src/protocol/agents/profileKeys.ts';
import type { AgentReport } from '../../../../src/protocol/agentReport.ts';

const captured = (text: string) => ({ text, bytes: Buffer.byteLength(text), omittedBytes: 0 });

function exitOf(
  fields: Partial<Omit<ProcessExit, 'stdout' | 'stderr'>> & { stdout?: string; stderr?: string },
): ProcessExit {
  const { stdout = '', stderr = '', ...rest } = fields;
  const base = { reason: 'exit', exitCode: 0, elapsedMs: 1, endedAt: 0, message: 'CLI exited.' } as const;
  return { ...base, ...rest, stdout: captured(stdout), stderr: captured(stderr) };
}

const stream = { agent: 'claude', format: 'stream-json' } as const;
const text = { agent: 'claude', format: 'text' } as const;
const silent: AgentReport = { agent: 'claude', effects: 'unknown', concluded: false };
const failure = { kind: 'overloaded', message: 'x', outcome: 'failed' } as const;

describe("the end of an agent's run", () => {
  it.each([
    ['stream-json', stream],
    ['text', text],
  ])('[S-10] [R-12] is a lost answer where its %s was cut before its last word', (_, command) => {
    const facts = agentExitFacts(exitOf({ reason: 'output-cut', stdout: 'so' }), command, silent);
    expect(facts).toMatchObject({ kind: 'protocol', reason: 'output_cut', outcome: 'unknown' });
  });

  it('[S-10] is what the protocol says where only what came after its last word was cut', () => {
    const exit = exitOf({ reason: 'output-cut' });
    expect(agentExitFacts(exit, stream, { ...silent, concluded: true })).toBeUndefined();
    expect(agentExitFacts(exit, stream, { ...silent, failure })).toBe(failure);
  });

  it.each([0, 1, 143])('[S-10] is what the protocol says, whatever the exit code %s', (exitCode) => {
    expect(agentExitFacts(exitOf({ exitCode }), stream, { ...silent, concluded: true })).toBeUndefined();
    expect(agentExitFacts(exitOf({ exitCode }), stream, { ...silent, concluded: true, failure })).toBe(failure);
  });

  it('[S-2] is the limit or signal that ended it, even after a result', () => {
    const report = { ...silent, concluded: true };
    expect(agentExitFacts(exitOf({ reason: 'signal', signal: 'SIGKILL' }), stream, report)?.kind).toBe('crash');
    expect(agentExitFacts(exitOf({ reason: 'no-output-timeout' }), stream, report)?.kind).toBe('timeout');
    expect(agentExitFacts(exitOf({ reason: 'cancelled' }), stream, report)?.kind).toBe('cancelled');
  });

  it('[S-9] without a word of the protocol is its exit code and stderr', () => {
    const stderr = 'Error: Session ID x is already in use.';
    expect(agentExitFacts(exitOf({ exitCode: 1, stderr }), stream, silent)).toMatchObject({ kind: 'permanent' });
    expect(agentExitFacts(exitOf({ exitCode: 143 }), stream, silent)).toMatchObject({ kind: 'crash' });
    expect(agentExitFacts(exitOf({}), stream, silent)).toMatchObject({ kind: 'unknown', reason: 'empty_response' });
  });

  it("[A-1] [A-2] of the user's own agent is by its own words, also where its exit code tells a signal", () => {
    const own = {
      commands: ['nova'],
      exits: 'signal',
      errorTexts: [{ begins: 'Out of luck: ', ends: 'Bye.' }],
    } as const;
    const command = { agent: 'nova', format: 'text', profile: profilesFrom({ nova: own })['nova'] } as const;
    const told = exitOf({ stdout: 'Half of it\nOut of luck: 503 Service Unavailable. Bye.\n' });
    expect(agentExitFacts(told, command, silent)).toMatchObject({ kind: 'transient' });
    expect(agentExitFacts(exitOf({ stdout: 'All of it' }), command, silent)).toBeUndefined();
    expect(agentExitFacts(exitOf({ exitCode: 143 }), command, silent)).toMatchObject({ kind: 'crash' });
  });

  it('[S-10] with code 0 and a stream cut short is no success', () => {
    const facts = agentExitFacts(exitOf({ stdout: '{"type":"system"}' }), stream, silent);
    expect(facts).toMatchObject({ kind: 'protocol', outcome: 'unknown' });
    const missed = agentExitFacts(exitOf({ stdout: 'x' }), stream, silent, true);
    expect(missed).toMatchObject({ kind: 'protocol', reason: 'message_too_large' });
  });

  it('[S-9] [R-3] as text with code 1 is what Claude printed, with its hint', () => {
    const stdout = "You've hit your session limit · resets in 5 minutes\n";
    const facts = agentExitFacts(exitOf({ exitCode: 1, stdout }), text, silent);
    expect(facts).toMatchObject({ kind: 'quota', retryAfterMs: 300_000 });
  });

  it('[S-9] as text is never judged by an answer: with code 0, too long for an error, or beside a telling stderr', () => {
    const stdout = 'HTTP 503 means that the service is unavailable. API Error: 401';
    expect(agentExitFacts(exitOf({ stdout }), text, silent)).toBeUndefined();
    expect(agentExitFacts(exitOf({ exitCode: 1, stdout: stdout.repeat(40) }), text, silent)?.kind).toBe('unknown');
    expect(agentExitFacts(exitOf({ exitCode: 1, stdout, stderr: 'read ECONNRESET' }), text, silent)?.code).toBe(
      'ECONNRESET',
    );
    expect(agentExitFacts(exitOf({ exitCode: 1, stdout }), { ...text, agent: 'codex' }, silent)?.kind).toBe('unknown');
  });

  it('[S-9] [O-8] as text of Codex is its last line of an error, and never its banner, the prompt or a command', () => {
    const stderr = [
      'Reading additional input from stdin...',
      'OpenAI Codex v0.169.0',
      '--------',
      'provider: fake',
      'session id: 01a202fe-8969-7e20-8569-bfb8b1a1d73e',
      '--------',
      'user',
      'my password is hunter2. HTTP 401',
      'exec',
      "/bin/bash -lc 'cat secrets' in /home/x",
      ' succeeded in 0ms:',
      'ERROR: Reconnecting... 1/5',
      'ERROR: exceeded retry limit, last status: 429 Too Many Requests',
      'ERROR: exceeded retry limit, last status: 429 Too Many Requests',
      'tokens used',
      '2',
    ];
    const codex = { ...text, agent: 'codex' } as const;
    const factsOf = (lines: readonly string[], exitCode = 1, stdout = '') =>
      agentExitFacts(exitOf({ exitCode, stdout, stderr: lines.join('\n') }), codex, silent);
    const message = 'exceeded retry limit, last status: 429 Too Many Requests';
    expect(factsOf(stderr)).toMatchObject({ kind: 'rate_limit', message });
    const silence = { kind: 'unknown', message: 'CLI failed with exit code 1.' };
    expect(factsOf(stderr.slice(0, 11))).toMatchObject(silence);
    expect(factsOf(stderr.slice(0, 11), 1, 'HTTP 503, half an answer')).toMatchObject(silence);
    expect(factsOf(stderr, 101)?.message).toBe('CLI failed with exit code 101.');
    const empty = { reason: 'empty_response', message: 'CLI exited with code 0 and printed no answer.' };
    expect(factsOf(stderr, 0)).toMatchObject(empty);
    expect(factsOf(['Not inside a trusted directory'])?.message).toBe('Not inside a trusted directory');
    expect(factsOf(["error: unexpected argument '--x' found", '', 'Usage: codex exec'])?.message).toBe(
      "error: unexpected argument '--x' found",
    );
  });

  it('[S-9] [O-8] as text of Claude is without the prompt that is repeated, and without half an answer', () => {
    const factsOf = (stdout: string) => agentExitFacts(exitOf({ exitCode: 1, stdout }), text, silent);
    const blocked = 'operation blocked by hook: HTTP 503\n\n  Original prompt: my password is hunter2';
    expect(factsOf(blocked)?.message).toBe('operation blocked by hook: HTTP 503');
    expect(factsOf('half an answer\nAPI Error: 529 Overloaded')).toMatchObject({
      kind: 'overloaded',
      message: 'API Error: 529 Overloaded',
    });
  });
});
