import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const file = (name) => fileURLToPath(new URL(name, import.meta.url));

export const linesOf = (path) => (existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []);

export async function gone(child, signal = 'SIGKILL') {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

/** A gateway that takes a message on each line of its stdin, says `processed KEY`, is killed and started again: then it is sent what it has not processed. */
export class KilledHost {
  /** Keys of messages that were sent, with their lines, and of those that were processed. */
  sent = new Map();
  processed = new Set();
  #child;

  async start(...words) {
    const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child = child;
    child.stdin.on('error', () => undefined);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [what, key] = line.split(' ');
      if (what === 'processed') this.processed.add(key);
    });
    await once(child.stdout, 'data');
    for (const [key, line] of this.sent) if (!this.processed.has(key)) child.stdin.write(line);
  }

  send(key, line) {
    this.sent.set(key, line);
    this.#child.stdin.write(line);
  }

  /** Waits until each message was processed, for so long at most. */
  async settle(patienceMs, meanwhile = () => wait(50)) {
    const deadline = Date.now() + patienceMs;
    while (this.processed.size < this.sent.size && Date.now() < deadline) await meanwhile();
  }

  kill(signal) {
    return gone(this.#child, signal);
  }
}
