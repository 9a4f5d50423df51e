import { execaSync } from 'execa';
import { describe, expect, it } from 'vitest';
import { listProcesses, listProcessesNow, parsePs, parseStat } from '../../../src/actors/process/processTable.ts';

const stat = (name: string, state = 'S') =>
  `4711 (${name}) ${state} 10 20 30 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 123456 2928640 200`;

describe('the process table', () => {
  it('reads a name that holds spaces and parentheses', () => {
    expect(parseStat(stat('a) R 1 (b'))).toEqual({
      pid: 4711,
      parent: 10,
      group: 20,
      session: 30,
      startTime: '123456',
      zombie: false,
    });
  });

  it('knows a zombie', () => {
    expect(parseStat(stat('cli', 'Z'))?.zombie).toBe(true);
  });

  it.each(['', '4711 (cli) S 10', 'nonsense'])('skips %j', (text) => {
    expect(parseStat(text)).toBeUndefined();
  });

  it('lists this process with its parent, waiting or not', async () => {
    const self = { pid: process.pid, parent: process.ppid, zombie: false };
    expect(listProcessesNow()).toContainEqual(expect.objectContaining(self));
    expect(await listProcesses()).toContainEqual(expect.objectContaining(self));
  });

  it('reads what ps prints', () => {
    const output =
      '    1     0     1 Ss   Fri Nov 21 09:00:00 2025\n 4711    10    20 Z+   Fri Nov 21 09:00:01 2025\n\n';
    expect(parsePs(output)).toEqual([
      { pid: 1, parent: 0, group: 1, session: 0, startTime: 'Fri Nov 21 09:00:00 2025', zombie: false },
      { pid: 4711, parent: 10, group: 20, session: 0, startTime: 'Fri Nov 21 09:00:01 2025', zombie: true },
    ]);
  });

  it('finds this process in the ps of this system', () => {
    const { stdout } = execaSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,stat=,lstart=']);
    expect(parsePs(stdout)).toContainEqual(expect.objectContaining({ pid: process.pid, parent: process.ppid }));
  });
});
