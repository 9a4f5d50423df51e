import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const file = (name) => fileURLToPath(new URL(name, import.meta.url));
export const main = file('../../../dist/cli/main.js');

/** A program under steady work that is measured from within, and whose end is asked for by the end of its stdin or a signal. */
export class Watched {
  #child;
  #probe;
  #ended;
  #stdout = '';
  stderr = '';
  /** Lines that it says on stdout, for who listens. */
  lines;

  /**
   * @param {{name: string, words: readonly string[], scope: object}} about - the words of the program for Node
   * @param about.scope - of the soak: `env`, `watch` (the folder of measures) and `everyMs`
   */
  constructor({ name, words, scope: { env, watch, everyMs } }) {
    this.name = name;
    this.#probe = join(watch, name);
    this.#child = spawn(process.execPath, ['--expose-gc', '--import', file('probe.mjs'), ...words], {
      env: { ...env, SOAK_PROBE: this.#probe, SOAK_EVERY_MS: String(everyMs) },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#ended = once(this.#child, 'exit');
    this.#child.stdin.on('error', () => undefined);
    this.#child.stderr.on('data', (chunk) => (this.stderr = `${this.stderr}${chunk}`.slice(-20_000)));
    this.#child.stdout.on('data', (chunk) => (this.#stdout = `${this.#stdout}${chunk}`.slice(-20_000)));
    this.lines = createInterface({ input: this.#child.stdout });
  }

  get pid() {
    return this.#child.pid;
  }

  get isOver() {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Waits until so much of its stdout is there. @returns that. */
  async said(isAll = (text) => text.endsWith('\n')) {
    for (let look = 0; look < 3000 && !isAll(this.#stdout) && !this.isOver; look++) await wait(20);
    if (!isAll(this.#stdout)) throw new Error(`${this.name} did not say it: ${this.#stdout} ${this.stderr}`);
    const text = this.#stdout;
    this.#stdout = '';
    return text;
  }

  /** Waits for a piece of its stderr. */
  async told(pattern) {
    for (let look = 0; look < 1000 && !pattern.test(this.stderr) && !this.isOver; look++) await wait(20);
    const found = pattern.exec(this.stderr);
    if (found === null) throw new Error(`${this.name} did not tell ${pattern}: ${this.stderr}`);
    return found[1];
  }

  write(line) {
    this.#child.stdin.write(line);
  }

  /** Ends it as its client or operator would. @returns its exit code or signal; `hangs` after a minute. */
  async end(signal) {
    if (signal === undefined) this.#child.stdin.end();
    else this.#child.kill(signal);
    const patience = new AbortController();
    const hangs = wait(60_000, ['hangs'], { signal: patience.signal }).catch(() => undefined);
    const [code, by] = await Promise.race([this.#ended, hangs]);
    patience.abort();
    if (code === 'hangs') this.#child.kill('SIGKILL');
    return code ?? by;
  }

  samples() {
    return readFileSync(this.#probe, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  }
}
