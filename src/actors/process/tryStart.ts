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
    return pid === undefined ? failed(child) : { child, pid };
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

const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value;

function noop(): void {}
