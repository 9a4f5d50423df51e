import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const main = file('../../../dist/cli/main.js');

/** A program of ours that is harmed: its pipes, and how it ended. */
export class Ran {
  stdout = '';
  stderr = '';
  /** `{code, signal}` once it has ended. */
  end;
  #child;

  /** @param {{words: readonly string[], env: object, before?: readonly string[], uid?: number}} about - `before`: a program and its words that start it */
  constructor({ words, env, before = [], uid }) {
    const [program, ...rest] = [...before, process.execPath, main, ...words];
    this.#child = spawn(program, rest, {
      env,
      stdio: ['pipe', 'pipe', 'pipe'],
      ...(uid !== undefined && { uid, gid: uid }),
    });
    const { stdin, stdout, stderr } = this.#child;
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined);
    stdout.on('data', (chunk) => (this.stdout += chunk));
    stderr.on('data', (chunk) => (this.stderr += chunk));
    this.lines = createInterface({ input: stdout });
    this.lines.on('error', () => undefined);
    this.exited = once(this.#child, 'exit').then(([code, signal]) => (this.end = { code, signal }));
  }

  get pid() {
    return this.#child.pid;
  }

  get isOver() {
    return this.end !== undefined;
  }

  write(text) {
    if (!this.#child.stdin.writableEnded) this.#child.stdin.write(text);
  }

  closeInput() {
    this.#child.stdin.end();
  }

  /** The reader goes away. */
  closeOutput(name) {
    this.#child[name].destroy();
  }

  signal(name) {
    this.#child.kill(name);
  }

  /** Waits until it has ended, for so long. @returns whether it has. */
  async endedWithin(ms) {
    await Promise.race([this.exited, wait(ms, undefined, { ref: false })]);
    return this.isOver;
  }

  /** Waits for a piece of what it says. @returns its first group; undefined where it ended before. */
  async told(stream, pattern, ms = 60_000) {
    const deadline = Date.now() + ms;
    while (!pattern.test(this[stream]) && !this.isOver && Date.now() < deadline) await wait(10);
    return pattern.exec(this[stream])?.[1];
  }
}

/** Processes that have a mark in their environment, with their words; none where there is no /proc. */
export function marked(mark) {
  const pids = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid));
  return pids.flatMap((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark)) return [];
      if (/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))) return [];
      return [{ pid: Number(pid), words: readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').slice(0, -1) }];
    } catch {
      return [];
    }
  });
}

/** Waits until nothing has the mark. @returns what still has it after so long, and how long it took. */
export async function goneWithin(mark, ms) {
  const begin = Date.now();
  let left = marked(mark);
  while (left.length > 0 && Date.now() - begin < ms) {
    await wait(20);
    left = marked(mark);
  }
  return { left, tookMs: Date.now() - begin };
}

/** Signals a process that may have gone by itself meanwhile. */
export function signal(pid, name) {
  try {
    process.kill(pid, name);
  } catch {}
}
