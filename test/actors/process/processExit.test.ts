import { describe, expect, it } from 'vitest';
import { exitFacts, unstartedFacts } from '../../../src/actors/process/processExit.ts';
import type { ProcessExit } from '../../../src/machines/subprocessExit.ts';
import type { Effect } from '../../../src/policy/effects.ts';
import { exitTellers } from '../../../src/policy/failures/exitTellers.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import { mayRepeat, mayRetry } from '../../../src/policy/failures/repetition.ts';

const captured = (text: string) => ({ text, bytes: text.length, omittedBytes: 0 });

const exit = (facts: Partial<ProcessExit>, stderr = ''): ProcessExit => ({
  reason: 'exit',
  stdout: captured(''),
  stderr: captured(stderr),
  elapsedMs: 10,
  endedAt: Date.UTC(2026, 0, 1),
  message: 'the message of the run',
  ...facts,
});

describe('the end of a run as a failure', () => {
  it.each([0, 1, 75])('[S-9] [R-12] is a lost answer where its output was cut, with exit code %i', (exitCode) => {
    const facts = exitFacts(exit({ reason: 'output-cut', exitCode, stdout: captured('half') }, 'read ECONNRESET'));
    expect(facts).toEqual({
      kind: 'protocol',
      reason: 'output_cut',
      message: 'the message of the run',
      outcome: 'unknown',
      code: exitCode,
    });
  });

  it('[S-9] is none for exit code 0, whatever stderr says', () => {
    expect(exitFacts(exit({ exitCode: 0 }, 'Error: 529 Overloaded'))).toBeUndefined();
  });

  it('[S-9] names the exit code when there is no text', () => {
    expect(exitFacts(exit({ exitCode: 1 }))).toMatchObject({
      kind: 'unknown',
      message: 'CLI failed with exit code 1.',
      code: 1,
      outcome: 'failed',
    });
    expect(exitFacts(exit({ exitCode: undefined }))?.message).toBe('CLI failed with exit code unknown.');
  });

  it('[S-9] calls the command by its name', () => {
    const calledAs = 'convert';
    const messageOf = (facts: Partial<ProcessExit>) =>
      exitFacts(exit(facts), { calledAs, expectsOutput: true })?.message;
    expect(messageOf({ exitCode: 3 })).toBe('convert failed with exit code 3.');
    expect(messageOf({ exitCode: 0, stdout: captured('') })).toBe('convert exited with code 0 and printed no answer.');
    expect(messageOf({ exitCode: 143 })).toBe('convert failed with exit code 143.');
    expect(messageOf({ reason: 'signal', signal: 'SIGSEGV' })).toBe('convert was ended by SIGSEGV, not by us.');
  });

  it('[S-9] is an empty response for exit code 0 without output where some is expected', () => {
    const empty = (stdout: string) => exit({ exitCode: 0, stdout: captured(stdout) });
    const facts = {
      kind: 'unknown',
      reason: 'empty_response',
      message: 'CLI exited with code 0 and printed no answer.',
      outcome: 'unknown',
    };
    expect(exitFacts(empty(''), { expectsOutput: true })).toMatchObject(facts);
    expect(exitFacts(empty(' \n\t'), { expectsOutput: true })).toMatchObject(facts);
    expect(exitFacts(empty('x'), { expectsOutput: true })).toBeUndefined();
    expect(exitFacts(empty(''))).toBeUndefined();
  });

  it('[S-9] of an empty response says what stderr says, whose words decide nothing', () => {
    const facts = exitFacts(exit({ exitCode: 0, stdout: captured('') }, 'Error: 529 Overloaded'), {
      expectsOutput: true,
    });
    expect(facts).toMatchObject({ kind: 'unknown', reason: 'empty_response', message: 'Error: 529 Overloaded' });
  });

  it('[S-9] takes kind and text from stderr, whatever stdout says', () => {
    const stdout = captured('HTTP 503');
    expect(exitFacts(exit({ exitCode: 1, stdout }, 'no such file'))).toMatchObject({
      kind: 'unknown',
      message: 'no such file',
    });
  });

  it('[S-9] takes kind and text from the last lines of stdout where stderr is empty', () => {
    const said = (text: string, stderr = ' \n') => exitFacts(exit({ exitCode: 1, stdout: captured(text) }, stderr));
    expect(said('asking\nError: 529 Overloaded\n')).toMatchObject({
      kind: 'overloaded',
      message: 'asking\nError: 529 Overloaded',
      outcome: 'unknown',
      leaves: 'lost',
    });
    expect(said('two tests failed')).toMatchObject({ kind: 'unknown', message: 'two tests failed', code: 1 });
    expect(said(`HTTP 503\n${'a line of output\n'.repeat(100)}`)).toMatchObject({ kind: 'unknown' });
  });

  it('[S-9] takes the kind from stderr', () => {
    expect(exitFacts(exit({ exitCode: 1 }, 'API Error: 529 Overloaded'))).toMatchObject({ kind: 'overloaded' });
    expect(exitFacts(exit({ exitCode: 1 }, 'Invalid API key'))).toMatchObject({ kind: 'auth' });
    expect(exitFacts(exit({ exitCode: 1 }, 'something else'))).toMatchObject({
      kind: 'unknown',
      message: 'something else',
    });
  });

  it.each([
    'connect ECONNREFUSED 127.0.0.1:1',
    '429 Too Many Requests',
    'read ECONNRESET',
    'API Error: 500',
    'Request timed out',
  ])('[R-5] [R-12] does not take the last words %j for a proof that the run did nothing', (stderr) => {
    const facts = exitFacts(exit({ exitCode: 1 }, stderr));
    expect(facts).toMatchObject({ outcome: 'unknown', leaves: 'lost' });
    const repeats = (effect?: Effect) =>
      facts !== undefined && mayRetry(facts, effect, { repeatAfter: 'broken', retryUnknown: true });
    expect([repeats('mutating'), repeats(), repeats('readOnly'), repeats('idempotent')]).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });

  it.each([
    'got 503, trying again\nno space left on device',
    'Error: 429 Too Many Requests, waiting\nassertion failed: 1 != 2',
    'usage limit reached\nTypeError: x is undefined',
    'info: rate limit 50/min',
  ])('[R-5] is not known by what the run said before it failed: %j', (stderr) => {
    expect(exitFacts(exit({ exitCode: 1 }, stderr))).toMatchObject({ kind: 'unknown', code: 1 });
  });

  it('[S-9] shows only the last lines of a long text', () => {
    const facts = exitFacts(exit({ exitCode: 1 }, `${'noise\n'.repeat(1000)}the last line\n`));
    expect(facts?.message).toMatch(/^noise\n[^]*the last line$/);
    expect(facts?.message.length).toBeLessThanOrEqual(500);
  });

  it('[O-8] begins with no part of a word: it may be half a secret', () => {
    const facts = exitFacts(exit({ exitCode: 1 }, `${'half-of-a-secret'.repeat(40)} the rest`));
    expect(facts?.message).toBe('the rest');
    expect(exitFacts(exit({ exitCode: 1 }, 'half-of-a-secret'.repeat(40)))?.message).toBe(
      'CLI failed with exit code 1.',
    );
  });

  it.each([
    [
      'overall-timeout',
      { kind: 'timeout', reason: 'overall_timeout', outcome: 'unknown', message: 'the message of the run' },
    ],
    [
      'no-output-timeout',
      { kind: 'timeout', reason: 'idle_timeout', outcome: 'unknown', message: 'the message of the run' },
    ],
    ['cancelled', { kind: 'cancelled', outcome: 'cancelled' }],
    ['output-limit', { kind: 'protocol', reason: 'message_too_large', outcome: 'unknown' }],
  ] as const)('[S-9] reads reason %s before the exit code', (reason, facts) => {
    expect(exitFacts(exit({ reason, exitCode: 0 }))).toMatchObject(facts);
  });

  it.each([
    [{ reason: 'signal', signal: 'SIGKILL' }, 'crash'],
    [{ reason: 'signal', signal: 'SIGTERM' }, 'crash'],
  ] as const)('[S-9] reads %j as %s', (facts, kind) => {
    expect(exitFacts(exit(facts))?.kind).toBe(kind);
  });

  it.each([1, 75, 124, 125, 126, 127, 128, 129, 130, 134, 137, 139, 141, 143, 255])(
    '[S-9] takes exit code %i for an answer of the command, which is not asked again',
    (exitCode) => {
      const facts = exitFacts(exit({ exitCode }, 'usage: git diff'), {
        tellers: exitTellers('git', ['diff', '--bogus']),
      });
      const outcome = exitCode === 126 || exitCode === 127 ? 'unknown' : 'failed';
      expect(facts).toEqual({ kind: 'unknown', message: 'usage: git diff', outcome, code: exitCode });
      expect(exitFacts(exit({ exitCode }))?.message).toBe(`CLI failed with exit code ${exitCode}.`);
      expect(facts && mayRetry(facts, 'readOnly', { repeatAfter: 'lost', retryUnknown: false })).toBe(false);
    },
  );

  it.each([
    [124, 'timeout', ['timeout', '5s', 'make']],
    [126, 'unknown', ['sh', '-c', '/etc']],
    [127, 'unknown', ['bash', 'steps.sh']],
    [127, 'unknown', ['env', 'A=b', 'nosuch']],
    [124, 'unknown', ['sh', '-c', 'exit 124']],
    [127, 'unknown', ['timeout', '5s', 'node', 'steps.js']],
    [137, 'unknown', ['sh', '-c', 'make']],
  ] as const)('[S-9] reads exit code %i as %s of %j', (exitCode, kind, [command, ...args]) => {
    expect(exitFacts(exit({ exitCode }), { tellers: exitTellers(command, args) })).toMatchObject({
      kind,
      code: exitCode,
    });
  });

  it.each([126, 127])('[S-9] [R-12] knows nothing of what a script did that ends with %i', (exitCode) => {
    const facts = exitFacts(exit({ exitCode }, 'sh: 1: missing: not found'), {
      tellers: exitTellers('sh', ['-c', 'x']),
    });
    expect(facts?.outcome).toBe('unknown');
    expect(facts && mayRepeat(facts, 'mutating', 'lost')).toBe(false);
  });

  it('[S-9] [R-12] has not been started where a wrapper says that there is no such command, and nothing else', () => {
    const told = exit({ exitCode: 127 }, 'nice: ‘nosuch’: No such file or directory');
    expect(unstartedFacts(told, 'nice', ['nosuch'])).toMatchObject({
      kind: 'spawn',
      outcome: 'not_started',
      code: 127,
    });
    expect(unstartedFacts(told, 'nice', ['book', 'nosuch'])).toBeUndefined();
    expect(unstartedFacts({ ...told, stdout: captured('booked') }, 'nice', ['nosuch'])).toBeUndefined();
    const cut = { ...told, stderr: { ...told.stderr, omittedBytes: 1 } };
    expect(unstartedFacts(cut, 'nice', ['nosuch'])).toBeUndefined();
  });

  it('[S-9] hints at the signal that a shell may tell, which decides nothing', () => {
    const tellers = exitTellers('sh', ['-c', 'make']);
    const silent = exitFacts(exit({ exitCode: 137 }), { tellers, calledAs: 'sh' });
    expect(silent).toEqual({
      kind: 'unknown',
      message: 'sh failed with exit code 137, as a shell tells SIGKILL.',
      outcome: 'failed',
      code: 137,
    });
    expect(exitFacts(exit({ exitCode: 139 }, 'core dumped'), { tellers })).toMatchObject({
      kind: 'unknown',
      message: 'core dumped (exit code 139, as a shell tells SIGSEGV)',
    });
    for (const exitCode of [3, 128, 200, 255])
      expect(exitFacts(exit({ exitCode }, 'no'), { tellers })?.message).toBe('no');
  });

  it.each(['Segmentation fault (core dumped)', 'spawn make ENOENT', 'Connection closed', 'The operation was canceled'])(
    '[S-9] is the exit code whatever the command says of an end: %j',
    (text) => {
      expect(exitFacts(exit({ exitCode: 1 }, text))).toEqual({
        kind: 'unknown',
        message: text,
        outcome: 'failed',
        code: 1,
      });
    },
  );

  it.each(['connect ECONNREFUSED 127.0.0.1:5432', 'Error: HTTP 503', 'error code -32001 overloaded'])(
    '[S-9] has the exit code for a code where the output says %j',
    (text) => {
      expect(exitFacts(exit({ exitCode: 7, stdout: captured(text) }))).toMatchObject({ code: 7, leaves: 'lost' });
      expect(exitFacts(exit({ exitCode: 137 }, text))).toMatchObject({ code: 137, leaves: 'lost' });
    },
  );

  it('[S-4] passes on the facts of a failed start', () => {
    const facts = { kind: 'spawn', message: 'no such command', outcome: 'not_started', code: 'ENOENT' } as const;
    expect(exitFacts(exit({ reason: 'spawn-error', error: new AttemptError(facts) }))).toEqual(facts);
  });
});
