import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadCommand } from '../../../cli/commands.ts';
import { commandHelp } from '../../../cli/help.ts';
import { asRun, exitCodeOf, runExitCodes, exitCodeLines, agentExitCodes } from '../../../cli/run/exitCode.ts';
import type { Failure, FailureKind } from '../../../src/policy/failures/failure.ts';

const failed = (kind: FailureKind): Failure => ({
  ...{ kind, message: 'it failed', outcome: 'failed', integration: 'nightly', attempts: 3, retryable: true },
});
const exitedWith1 = {
  ...{ reason: 'exit', exitCode: 1, endedAt: 0 },
  ...{ stdout: { text: '' }, stderr: { text: '' } },
} as unknown as Parameters<typeof exitCodeOf>[1];

describe('the exit code of a run that failed', () => {
  it.each(['rate_limit', 'quota'] as const)('[L-4] [R-5] is that of a plain command that speaks of a %s', (kind) => {
    expect(exitCodeOf(failed(kind), exitedWith1, false)).toBe(1);
    expect(exitCodeOf(failed(kind), undefined, false)).toBe(75);
  });

  it.each(['rate_limit', 'quota', 'overloaded', 'circuit_open', 'too_many_requests', 'unavailable'] as const)(
    '[L-4] is the one for later where an agent ended by %s',
    (kind) => expect(exitCodeOf(failed(kind), exitedWith1, true)).toBe(75),
  );

  it.each(['EMFILE', 'EAGAIN'])(
    '[L-4] [S-4] is the one for later where there was no room for the process: %s',
    (code) => {
      const refused: Failure = { ...failed('transient'), code };
      const unstarted = { reason: 'spawn-error' } as unknown as Parameters<typeof exitCodeOf>[1];
      expect([undefined, unstarted].map((exit) => exitCodeOf(refused, exit, false))).toEqual([75, 75]);
      expect(exitCodeOf(refused, exitedWith1, false)).toBe(1);
    },
  );

  it('[L-4] [G-15] is 1 where it was ended as it spun, and that counts neither for nor against its circuit', () => {
    const killed = { ...exitedWith1, exitCode: 143 } as Parameters<typeof exitCodeOf>[1];
    expect([exitedWith1, killed, undefined].map((exit) => exitCodeOf(failed('spinning'), exit, true))).toEqual([
      1, 1, 1,
    ]);
    expect(asRun(failed('spinning'), killed, true)).toEqual(failed('spinning'));
  });

  it("[L-4] is a plain command's own where its output tells of an overload", () => {
    expect(exitCodeOf(failed('overloaded'), exitedWith1, false)).toBe(1);
  });

  it.each(['auth', 'permanent', 'unknown'] as const)("[L-4] is an agent's own for %s", (kind) => {
    expect(exitCodeOf(failed(kind), exitedWith1, true)).toBe(1);
  });

  it('[A-2] is none that looks like a signal where the code of an agent is an HTTP status', () => {
    const exited = { ...exitedWith1, exitCode: 145 } as Parameters<typeof exitCodeOf>[1];
    expect(exitCodeOf(failed('auth'), exited, true, 'status')).toBe(1);
    expect(exitCodeOf(failed('rate_limit'), exited, true, 'status')).toBe(75);
    expect(exitCodeOf(failed('auth'), exited, true)).toBe(145);
    expect(exitCodeOf(failed('permanent'), exitedWith1, true, 'status')).toBe(1);
  });

  it('[L-4] [G-16] is the one for later where a budget let nothing begin, and 1 where it ended the agent', () => {
    const spent: Failure = { ...failed('spinning'), reason: 'budget' };
    expect(exitCodeOf({ ...spent, outcome: 'not_started' }, undefined, true)).toBe(75);
    expect(exitCodeOf({ ...spent, outcome: 'unknown' }, exitedWith1, true)).toBe(1);
  });

  it('[L-4] is told by the guide and by the help as one table', async () => {
    const guide = readFileSync(new URL('../../../docs/guides/commands.md', import.meta.url), 'utf8');
    const [, table = ''] = /\| code \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(guide) ?? [];
    const rows = table
      .trim()
      .split('\n')
      .map((row) =>
        row
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      );
    expect(rows).toEqual(runExitCodes);
    const help = async (name: string) => commandHelp(await loadCommand(name), { json: false, columns: 80 });
    expect(await help('run')).toContain(exitCodeLines(runExitCodes).join('\n'));
    expect(await help('agent')).toContain(exitCodeLines(agentExitCodes).join('\n'));
  });
});
