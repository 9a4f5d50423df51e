import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** A process as it was started, or as it was not: then it has no pid. */
export interface Startable {
  readonly pid?: number | undefined;
}

/** A start of a process. */
export type Start<C extends Startable> = { readonly child: C; readonly pid: number } | FailedStart;

interface FailedStart {
  readonly child?: undefined;
  readonly pid?: undefined;
  /** Resolves to why there is no process; never rejects. */
  readonly error: Promise<unknown>;
}

/** Node tells each process it makes on it, before it is started. */
const channel = 'child_process';

/**
 * Starts a process by `start`. Node tells of most failed starts by an `error` event of a process that is half made, on which execa throws: it
 * would reach nobody, and end this process. Never throws; errors of a started process are heard for good.
 */
export function tryStart<C extends Startable>(start: () => C): Start<C> {
  const all: ChildProcess[] = [];
  const errors: Promise<unknown>[] = [];
  const hear = (message: unknown): void => {
    const { process: made } = message as { readonly process: ChildProcess };
    all.push(made);
    errors.push(new Promise((resolve) => made.on('error', resolve)));
  };
  const failed = (otherwise: unknown): FailedStart => {
    // A system that could not so much as fork never opened its pipes, and these say so.
    for (const made of all) for (const stream of made.stdio ?? []) stream?.on('error', noop);
    return { error: firstOf(errors, otherwise) };
  };
  subscribe(channel, hear);
  try {
    const child = start();
    const { pid } = child;
    if (pid !== undefined) return { child, pid };
    // Bun (1.4.5) tells nobody of the processes it makes.
    if (all.length === 0 && isProcess(child)) hear({ process: child });
    return failed(child);
  } catch (error) {
    return failed(error);
  } finally {
    unsubscribe(channel, hear);
  }
}

/** The event comes before the next turn; without one the error is what was thrown, or what the child of execa resolves to. */
async function firstOf(errors: readonly Promise<unknown>[], otherwise: unknown): Promise<unknown> {
  const turn = new Promise<undefined>((resolve) => {
    setImmediate(resolve, undefined);
  });
  const told = await Promise.race([...errors, turn]);
  if (told !== undefined) return told;
  if (!isPromise(otherwise)) return otherwise;
  const result = await otherwise.then(
    (value: unknown) => value,
    (error: unknown) => error,
  );
  return typeof result === 'object' && result !== null && 'cause' in result ? (result.cause ?? result) : result;
}

const isProcess = (child: Startable): child is ChildProcess => 'on' in child;

const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value;

function noop(): void {}

/** Has something run in a turn of the event loop to come. @defaultValue `setImmediate` */
type NextTurn = (callback: () => void) => void;

/**
 * Has processes started one in a turn of the event loop: a start holds the loop for as long as the system takes, and between two of them what is in
 * the pipes of the others is read.
 */
export class StartTurns {
  readonly #nextTurn: NextTurn;
  readonly #waiting = new Set<() => void>();
  #isTaken = false;

  constructor(nextTurn: NextTurn = setImmediate) {
    this.#nextTurn = nextTurn;
  }

  /** Runs it at once where nothing was started in this turn, else in its own. It must not throw. @returns how to take it back. */
  take(start: () => void): () => void {
    if (this.#isTaken) this.#waiting.add(start);
    else this.#run(start);
    return () => void this.#waiting.delete(start);
  }

  #run(start: () => void): void {
    this.#isTaken = true;
    // A whole turn: the one that runs may have read the pipes before.
    this.#nextTurn(() => this.#nextTurn(() => this.#next()));
    start();
  }

  #next(): void {
    this.#isTaken = false;
    const [start] = this.#waiting;
    if (start === undefined) return;
    this.#waiting.delete(start);
    this.#run(start);
  }
}

/** Turns of this process. */
export const startTurns = new StartTurns();
