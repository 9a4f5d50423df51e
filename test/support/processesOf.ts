import { readdirSync, readFileSync } from 'node:fs';

/** The live processes that have a word on their command line, by pid. Linux only. */
export function processesOf(word: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => read(pid, 'cmdline').split('\0').includes(word) && !/^\d+ \(.*\) [ZX]/s.test(read(pid, 'stat')))
    .map(Number);
}

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
