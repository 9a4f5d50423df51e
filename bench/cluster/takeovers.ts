import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as passed } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { quantile } from '../harness/statistics.ts';
import type { Case } from '../harness/suite.ts';
import { newPlace } from './database.ts';

const program = fileURLToPath(new URL('./takeoverNode.js', import.meta.url));
const count = 100;
/** How many sessions a node has at least when they are shared out evenly enough. */
const fair = 40;
/** How often a node is harmed in a round. */
const times = 10;
/** A lease is renewed three times in its life of 2.5 s: the node is harmed anywhere between two renewals. */
const renewalMs = 834;
const patienceMs = 60_000;

/**
 * Take-overs between two gateways that share 100 sessions, at the default lease. One is harmed, and the other sends a message to each session that was
 * its. What is measured is the time from the harm to the begin of that message, a sample for each session.
 */
export function takeovers(harm: 'SIGKILL' | 'SIGSTOP'): Case {
  return {
    long: true,
    once: true,
    async measure(probe) {
      const { url, schema } = await newPlace();
      const start = (): Promise<Node> => Node.start(`${url}?schema=${schema}`);
      let harmed = await start();
      let other = await start();
      const samples: number[] = [];
      const slowest: number[] = [];
      for (let time = 0; time < times; time++) {
        const lost = await shared(harmed, other);
        await passed(Math.random() * renewalMs);
        const begun = other.allBegun(lost);
        const at = performance.now();
        harmed.signal(harm);
        other.say(`send ${lost.join(' ')}`);
        const tookMs = (await begun).map((begunAt) => begunAt - at);
        samples.push(...tookMs);
        slowest.push(Math.max(...tookMs));
        if (harm === 'SIGSTOP') harmed.signal('SIGCONT');
        else {
          await harmed.end();
          harmed = await start();
        }
        // Now it is the turn of the other.
        [harmed, other] = [other, harmed];
      }
      probe.record('take-over p50', quantile(samples, 0.5), 'ms');
      probe.record('take-over p99', quantile(samples, 0.99), 'ms');
      probe.record('last session p50', quantile(slowest, 0.5), 'ms');
      probe.record('last session max', Math.max(...slowest), 'ms');
      probe.record('sessions', samples.length, '');
      await Promise.all([harmed.end(), other.end()]);
    },
  };
}

/** Waits until two nodes share all sessions. @returns those of the first. */
async function shared(one: Node, other: Node): Promise<readonly string[]> {
  for (const end = performance.now() + patienceMs; performance.now() < end; await passed(100)) {
    const [owned, others] = await Promise.all([one.owned(), other.owned()]);
    if (owned.length + others.length === count && Math.min(owned.length, others.length) >= fair) return owned;
  }
  throw new Error('Two nodes do not share their sessions');
}

/** A gateway in a process of its own. */
class Node {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #exited: Promise<unknown>;
  #heard: (words: readonly string[]) => void = () => undefined;

  private constructor(store: string) {
    this.#child = spawn(process.execPath, [program, store, String(count)], { stdio: ['pipe', 'pipe', 'inherit'] });
    // What a killed one did not read is nobody's loss.
    this.#child.stdin.on('error', () => undefined);
    this.#exited = once(this.#child, 'exit');
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#heard(line.split(' ')));
  }

  static async start(store: string): Promise<Node> {
    const node = new Node(store);
    await node.#until((words) => words[0] === 'ready');
    return node;
  }

  say(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** The sessions that it owns. */
  async owned(): Promise<readonly string[]> {
    let owned: readonly string[] = [];
    const answered = this.#until(([what, ...sessions]) => {
      owned = sessions;
      return what === 'owned';
    });
    this.say('owned');
    await answered;
    return owned;
  }

  /** When the message of each session was begun, in monotonic ms of this process. */
  async allBegun(sessions: readonly string[]): Promise<readonly number[]> {
    const missing = new Set(sessions);
    const begun: number[] = [];
    await this.#until(([what, session = '']) => {
      if (what === 'begun' && missing.delete(session)) begun.push(performance.now());
      return missing.size === 0;
    });
    return begun;
  }

  async end(): Promise<void> {
    this.signal('SIGKILL');
    await this.#exited;
  }

  #until(isSo: (words: readonly string[]) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('A node said nothing for too long')), patienceMs);
      this.#heard = (words) => {
        if (!isSo(words)) return;
        clearTimeout(late);
        resolve();
      };
    });
  }
}
