import { describe, expect, it } from 'vitest';
import { commands, loadCommand } from '../../cli/commands.ts';
import { errorReport } from '../../cli/errorReport.ts';
import { CommandError, UsageError } from '../../cli/errors.ts';
import { exitCodes } from '../../cli/run/exitCode.ts';
import { unloadedCode } from '../../cli/unloaded.ts';

const shortage = Object.assign(new Error("EMFILE: too many open files, open '/a/b.js'"), { code: 'EMFILE' });

describe('what could not be loaded', () => {
  it('[S-4] [L-4] ends a command with its exit code for an error of ours', async () => {
    for (const name of Object.keys(commands)) {
      // Its help and its own catch say so: wrong usage is another code there.
      const own = name === 'agent' ? exitCodes.ownError : (await loadCommand(name)).errorCode;
      expect([name, unloadedCode(name)]).toEqual([name, own ?? 1]);
    }
    expect([unloadedCode(undefined), unloadedCode('constructor')]).toEqual([1, 1]);
  });

  it('[S-4] is a line that says what was short, and no stack', () => {
    expect(errorReport(shortage)).toBe(
      'It could not be done: too many files are open in this process (EMFILE); trying again may help',
    );
    expect(errorReport(new Error('not loaded', { cause: shortage }))).toContain('(EMFILE)');
    expect(errorReport(new UsageError('no such option'))).toBe('no such option');
    expect(errorReport(new CommandError('not there'))).toBe('not there');
    expect(errorReport(new Error('a bug'))).toMatch(/a bug\n\s+at /);
  });
});
