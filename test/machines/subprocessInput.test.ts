import { describe, expect, it } from 'vitest';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { checkSubprocess, type SubprocessInput } from '../../src/machines/subprocessInput.ts';

const check = (wrong: Record<string, unknown>) => (): unknown =>
  checkSubprocess({ command: 'cli', clock, ...wrong } as SubprocessInput);

const clock = new SimulatedClock();

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
    expect(checkSubprocess({ ...input, clock })).toEqual({ ...input, clock });
  });

  it('[R-17] takes its limits as ms or as a text', () => {
    const input = checkSubprocess({ command: 'cli', clock, overallMs: '5m', idleMs: 5, graceMs: '0s' });
    expect(input).toMatchObject({ overallMs: 300_000, idleMs: 5, graceMs: 0 });
  });

  it.each([
    [
      { command: undefined },
      TypeError,
      'Expected `command` to be a non-empty string, the program alone: what follows it goes in `args`, as in { command: "node", args: ["server.mjs"] }, got undefined',
    ],
    [{ args: 'a b' }, TypeError, 'Expected `args` to be an array of strings, got "a b"'],
    [{ args: ['a', 5] }, TypeError, 'Expected `args[1]` to be a string, got 5'],
    [{ cwd: 5 }, TypeError, 'Expected `cwd` to be a non-empty string, got 5'],
    [{ cwd: '' }, RangeError, 'Expected `cwd` to be a non-empty string, got ""'],
    [{ env: null }, TypeError, 'Expected `env` to be an object of strings, got null'],
    [{ env: ['A=1'] }, TypeError, 'Expected `env` to be an object of strings, got an array of 1'],
    [{ env: { A: 1 } }, TypeError, 'Expected `env.A` to be a string, got a number that is not shown'],
    [{ env: { 'A=B': '1' } }, RangeError, 'Unknown option `env["A=B"]`; choose another name'],
    [{ env: { '': '1' } }, RangeError, 'Unknown option `env[""]`; choose another name'],
    [{ envMode: 'none' }, RangeError, 'Expected `envMode` to be one of extend, safe, only, got "none"'],
    [{ envMode: true }, RangeError, 'Expected `envMode` to be one of extend, safe, only, got true'],
    [{ envAllow: 'PATH' }, TypeError, 'Expected `envAllow` to be an array of strings, got "PATH"'],
    [{ envAllow: [''] }, RangeError, 'Expected `envAllow[0]` to be a non-empty string, got ""'],
    [{ envAllow: [], envMode: 'only' }, RangeError, 'Expected `envAllow` to be left out with an `envMode` of "only"'],
    [{ stdin: 5 }, TypeError, 'Expected `stdin` to be a string or bytes, got 5'],
    [
      { graceMs: '5' },
      RangeError,
      'Expected `graceMs` to be a duration of at least 0 (ms, or text such as 30s), got "5"',
    ],
    [
      { drainMs: Number.NaN },
      RangeError,
      'Expected `drainMs` to be a duration of at least 0 (ms, or text such as 30s), got NaN',
    ],
    [{ maxOutputBytes: 0 }, RangeError, 'Expected `maxOutputBytes` to be a positive integer, got 0'],
    [{ onOutput: {} }, TypeError, 'Expected `onOutput` to be a function, got an object'],
    [{ inherit: ['stderr'] }, RangeError, 'Expected `inherit[0]` to be one of stdin, stdout, got "stderr"'],
    [{ sharesGroup: 1 }, TypeError, 'Expected `sharesGroup` to be true or false, got 1'],
  ])('[S-1] is refused with %o', (wrong, kind, message) => {
    expect(check(wrong)).toThrow(new kind(message));
  });

  it('shows no value of a variable when it is refused', () => {
    expect(check({ env: { TOKEN: ['secret'] } })).toThrow('`env.TOKEN` to be a string, got an array of 1');
  });
});
