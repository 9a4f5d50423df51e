import { type ProcessEntry, listProcesses } from '../../src/actors/process/face.ts';
import type { Gateway } from '../../src/index.ts';

/** Every process a gateway starts, from the facts it tells, and what the system says of them. */
export class ProcessLog {
  /** Program that each pid is run as, while it runs. */
  readonly #running = new Map<number, string>();
  readonly #known = new Set<number>();
  readonly #gateway: Pick<Gateway, 'on' | 'wait'>;
  /** Children this process had before. */
  #strangers: ReadonlySet<number> = new Set();

  constructor(gateway: Pick<Gateway, 'on' | 'wait'>) {
    this.#gateway = gateway;
    gateway.on('process.started', ({ process, pid }) => {
      this.#known.add(pid);
      this.#running.set(pid, process);
    });
    gateway.on('process.exited', ({ pid }) => {
      if (pid !== undefined) this.#running.delete(pid);
    });
  }

  /** Processes seen so far, those included that were added by hand. */
  get count(): number {
    return this.#known.size;
  }

  /** Notes which children there are already. */
  async begin(): Promise<void> {
    this.#strangers = new Set((await listProcesses()).filter(isOwnChild).map(({ pid }) => pid));
  }

  /** A process that no fact tells of: a child of a child. */
  add(pid: number): void {
    this.#known.add(pid);
  }

  /** The pid that runs as `name`, if one does. */
  pidOf(name: string): number | undefined {
    return [...this.#running].find(([, process]) => process === name)?.[0];
  }

  /** Waits until nothing runs whose name starts so. @throws when the signal aborts first. */
  async ended(prefix: string, signal: AbortSignal): Promise<void> {
    while ([...this.#running.values()].some((process) => process.startsWith(prefix))) {
      await this.#gateway.wait('process.exited', { signal });
    }
  }

  /** Returns those of the pids that are alive. */
  async alive(...pids: readonly number[]): Promise<number[]> {
    const entries = await listProcesses();
    return entries.filter(({ pid, zombie }) => !zombie && pids.includes(pid)).map(({ pid }) => pid);
  }

  /** Finds all that is alive of what was started: by pid, by the group or session it led, or as a child of this process. */
  async left(): Promise<number[]> {
    const leads = (pid: number): boolean => this.#known.has(pid);
    const entries = (await listProcesses()).filter(({ pid, zombie }) => !zombie && pid !== process.pid);
    return entries
      .filter(
        (entry) =>
          leads(entry.pid) ||
          leads(entry.group) ||
          leads(entry.session) ||
          (isOwnChild(entry) && !this.#strangers.has(entry.pid)),
      )
      .map(({ pid }) => pid);
  }
}

/** Elsewhere the processes are listed by a child of ours, which would find itself. */
function isOwnChild({ parent, pid }: ProcessEntry): boolean {
  return process.platform === 'linux' && parent === process.pid && pid !== process.pid;
}
