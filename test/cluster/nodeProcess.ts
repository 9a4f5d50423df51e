import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { createInterface } from 'node:readline';
import { FaultyPath } from './faultyPath.ts';

/** Where a cluster runs. */
export interface ClusterPlace {
  /** The built program of a node. */
  readonly program: string;
  /** Of the database server. */
  readonly port: number;
  readonly database: string;
  readonly leaseMs: number;
  readonly sessions: number;
  /** Where journals go. */
  readonly directory: string;
}

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** One gateway of a cluster as a process, with a way to the database that can fail. It is started again under its name. */
export class NodeProcess {
  readonly name: string;
  readonly journal: string;
  readonly path: FaultyPath;
  /** How far its wall clock is off, in ms. */
  readonly skewMs: number;
  readonly #place: ClusterPlace;
  readonly #heard: (node: NodeProcess, words: readonly string[]) => void;
  #child: Child | undefined = undefined;
  #exited: Promise<unknown> = Promise.resolve();
  /** Whether it has said that it is ready, and has not ended since. */
  isReady = false;
  isFrozen = false;

  private constructor(
    name: string,
    skewMs: number,
    path: FaultyPath,
    place: ClusterPlace,
    heard: (node: NodeProcess, words: readonly string[]) => void,
  ) {
    this.name = name;
    this.skewMs = skewMs;
    this.path = path;
    this.#place = place;
    this.journal = `${place.directory}/${name}.jsonl`;
    this.#heard = heard;
  }

  /** @param heard - told of each line that it says. */
  static async make(
    name: string,
    skewMs: number,
    place: ClusterPlace,
    heard: (node: NodeProcess, words: readonly string[]) => void,
  ): Promise<NodeProcess> {
    return new NodeProcess(name, skewMs, await FaultyPath.open(place.port), place, heard);
  }

  get isAlive(): boolean {
    return this.#child !== undefined;
  }

  /** Resolves when it has ended. */
  get exited(): Promise<unknown> {
    return this.#exited;
  }

  /** Starts it, unless it runs. */
  start(): void {
    if (this.#child !== undefined) return;
    const { program, database, leaseMs, sessions } = this.#place;
    const url = `postgres://${this.name}@127.0.0.1:${this.path.port}/${database}?leaseMs=${leaseMs}`;
    const words = [program, this.name, url, this.journal, String(this.skewMs), String(sessions)];
    const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child = child;
    // It is killed: what it did not read is nobody's loss.
    child.stdin.on('error', () => undefined);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const heard = line.split(' ');
      if (heard[0] === 'ready') this.isReady = true;
      this.#heard(this, heard);
    });
    this.#exited = once(child, 'exit').then(() => {
      this.isReady = this.isFrozen = false;
      this.#child = undefined;
      this.#heard(this, ['exited']);
    });
  }

  send(session: string, key: string): void {
    this.#child?.stdin.write(`${session} ${key}\n`);
  }

  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGSTOP') this.isFrozen = true;
    if (signal === 'SIGCONT') this.isFrozen = false;
    this.#child?.kill(signal);
  }

  async end(): Promise<void> {
    this.signal('SIGKILL');
    await this.#exited;
    this.path.close();
  }
}
