import { readdirSync, readFileSync } from 'node:fs';

/** A process of a cell. */
export interface CellProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

const read = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
};

/** Processes that have a home in their environment: all that a cell has started, whoever their parent is now. */
export function processesOf(home: string): readonly CellProcess[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && read(`/proc/${pid}/environ`).split('\0').includes(`HOME=${home}`))
    .flatMap((pid): readonly CellProcess[] => {
      const stat = read(`/proc/${pid}/stat`);
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (stat === '' || state === 'Z') return [];
      const command = read(`/proc/${pid}/cmdline`).split('\0').join(' ').trim();
      return [{ pid: Number(pid), parent: Number(parent), command }];
    });
}

/** Sends a signal to one process; whether it was there. */
export function signalTo(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
