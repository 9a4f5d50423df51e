import { describe, expect, it } from 'vitest';
import { checkSubprocess, type SubprocessInput } from '../../src/machines/subprocessInput.ts';

const check = (wrong: Record<string, unknown>) => (): unknown =>
  checkSubprocess({ command: 'cli', ...wrong } as Omit<SubprocessInput, 'clock'>, 'job.');

describe('the input of a run', () => {
  it('is taken as it is when it is as documented', () => {
    const input = {
      command: 'cli',
      args: ['', 'a'],
      cwd: '/',
      env: { A: '', B: undefined },
      envMode: 'extend' as const,
      envAllow: ['PATH'],
      stdin: new Uint8Array(1),
      graceMs: 0,
      drainMs: 0,
      maxOutputBytes: 1,
      inherit: ['stdin'] as const,
      sharesGroup: true,
    };
    expect(checkSubprocess(input)).toBe(input);
  });

  it.each([
    [{ command: undefined }, TypeError, 'Expected `job.command` to be a non-empty string, got undefined'],
    [{ args: 'a b' }, TypeError, 'Expected `job.args` to be an array of strings, got "a b"'],
    [{ args: ['a', 5] }, TypeError, 'Expected `job.args[1]` to be a string, got 5'],
    [{ cwd: 5 }, TypeError, 'Expected `job.cwd` to be a non-empty string, got 5'],
    [{ cwd: '' }, RangeError, 'Expected `job.cwd` to be a non-empty string, got ""'],
    [{ env: null }, TypeError, 'Expected `job.env` to be an object, got null'],
    [{ env: ['A=1'] }, TypeError, 'Expected `job.env` to be an object, got an array of 1'],
    [{ env: { A: 1 } }, TypeError, 'Expected `job.env.A` to be a string, got number'],
    [{ env: { 'A=B': '1' } }, RangeError, 'Expected `job.env` to hold names of variables, got "A=B"'],
    [{ env: { '': '1' } }, RangeError, 'Expected `job.env` to hold names of variables, got ""'],
    [{ envMode: 'none' }, RangeError, 'Expected `job.envMode` to be one of extend, safe, only, got "none"'],
    [{ envMode: true }, RangeError, 'Expected `job.envMode` to be one of extend, safe, only, got true'],
    [{ envAllow: 'PATH' }, TypeError, 'Expected `job.envAllow` to be an array of strings, got "PATH"'],
    [{ envAllow: [''] }, RangeError, 'Expected `job.envAllow[0]` to be a non-empty string, got ""'],
    [
      { envAllow: [], envMode: 'only' },
      RangeError,
      'Expected `job.envAllow` to be left out with an `envMode` of "only"',
    ],
    [{ stdin: 5 }, TypeError, 'Expected `job.stdin` to be a string or bytes, got 5'],
    [{ graceMs: '5' }, TypeError, 'Expected `job.graceMs` to be a finite number of at least 0, got "5"'],
    [{ drainMs: Number.NaN }, RangeError, 'Expected `job.drainMs` to be a finite number of at least 0, got NaN'],
    [{ maxOutputBytes: 0 }, RangeError, 'Expected `job.maxOutputBytes` to be a positive integer, got 0'],
    [{ onOutput: {} }, TypeError, 'Expected `job.onOutput` to be a function, got an object'],
    [{ inherit: ['stderr'] }, RangeError, 'Expected `job.inherit` to be one of stdin, stdout, got "stderr"'],
    [{ sharesGroup: 1 }, TypeError, 'Expected `job.sharesGroup` to be true or false, got 1'],
  ])('[S-1] is refused with %o', (wrong, kind, message) => {
    expect(check(wrong)).toThrow(new kind(message));
  });

  it('shows no value of a variable when it is refused', () => {
    expect(check({ env: { TOKEN: ['secret'] } })).toThrow('`job.env.TOKEN` to be a string, got object');
  });
});
