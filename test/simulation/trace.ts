import { createHash } from 'node:crypto';

/** What happened, line by line, with the simulated time of each. */
export interface Trace {
  note(line: string): void;
  /** The last lines, oldest first. */
  last(count: number): string[];
  readonly length: number;
  /** Of all lines so far; two runs that did the same have the same. */
  hash(): string;
}

/** @param heard - told each line as it is noted. */
export function createTrace(now: () => number, heard?: (line: string) => void): Trace {
  const hash = createHash('sha256');
  const recent: string[] = [];
  let length = 0;
  return {
    note(text) {
      const line = `${now().toFixed(3).padStart(14)}  ${text}`;
      hash.update(`${line}\n`);
      length++;
      recent.push(line);
      if (recent.length > 200) recent.splice(0, 100);
      heard?.(line);
    },
    last: (count) => recent.slice(-count),
    get length() {
      return length;
    },
    hash: () => hash.copy().digest('hex'),
  };
}
