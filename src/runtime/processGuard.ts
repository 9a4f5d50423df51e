import { errorText, stackOf } from '../calls/errorText.ts';
import type { Facts } from '../policy/facts/facts.ts';
import { callback, type Given } from '../policy/options/optionKeys.ts';
import { readGiven } from '../policy/options/readOptions.ts';
import { show } from '../policy/text/showValue.ts';

/** Origin of an error that nobody caught. */
export type UncaughtOrigin = 'uncaughtException' | 'unhandledRejection';

/** Parts that a guard records to. */
interface GuardParts {
  readonly facts: Facts;
  /** Writes at once what was told: the process may end in this turn. */
  readonly flush: () => void;
}

interface Guard extends GuardParts {
  readonly goOn: ProcessGuardOptions['goOn'];
}

const guardKeys = {
  /**
   * Tells whether the process goes on after this error. Node's advice is to let it end: what threw may have left anything behind. Say yes only to errors you
   * know, such as those of a handler's own timer.
   * @defaultValue never: errors are recorded, and the process ends as it would have
   */
  goOn: callback<(error: unknown, origin: UncaughtOrigin) => boolean>(),
};

/** Conduct of the process after an error that nobody caught. */
export interface ProcessGuardOptions extends Given<typeof guardKeys> {}

/** Guards of all gateways of this process. They share its events. */
const guards = new Set<Guard>();

/**
 * Records uncaught errors, with their stack, while it is on. Without `goOn` it only watches. The process goes on after an error when one
 * guard says so. Otherwise the host's own listener decides; where the host has none, the process ends with 1, as without the guard.
 *
 * The guard does not see a rejection when the host has an `unhandledRejection` listener. It sees no rejection under
 * `--unhandled-rejections=none` or `warn`.
 * @returns how to take it off; the second time does nothing.
 * @throws TypeError or RangeError that names the wrong option.
 */
export function guardProcess({ facts, flush }: GuardParts, options: ProcessGuardOptions = {}): () => void {
  const { goOn } = readGiven('options', options, guardKeys);
  const guard: Guard = { facts, flush, goOn };
  guards.add(guard);
  listen();
  return () => {
    guards.delete(guard);
    listen();
  };
}

/** Listeners that do nothing would change what Node does: each is there only while somebody needs it. */
function listen(): void {
  process.off('uncaughtExceptionMonitor', record);
  process.off('uncaughtException', decide);
  if (guards.size > 0) process.on('uncaughtExceptionMonitor', record);
  if ([...guards].some(({ goOn }) => goOn !== undefined)) process.on('uncaughtException', decide);
}

function record(error: unknown, origin: string): void {
  const wentOn = saysGoOn(error, origin);
  for (const { facts, flush } of guards) {
    quietly(() => {
      const text = errorText(error) ?? show(error);
      facts.tell({ type: 'host.uncaught', origin, error: text, stack: stackOf(error), wentOn });
      flush();
    });
  }
}

function decide(error: unknown, origin: string): void {
  if (saysGoOn(error, origin)) return;
  // The host has a listener of its own, which was asked too.
  if (process.listenerCount('uncaughtException') > 1) return;
  quietly(() => process.getBuiltinModule('node:fs').writeSync(2, `Uncaught ${stackOf(error) ?? show(error)}\n`));
  process.exit(1);
}

/** Node tells the monitor first and then the listener, of the same error: `goOn` is asked once. */
let judged: { readonly error: unknown; readonly wentOn: boolean } | undefined;

function saysGoOn(error: unknown, origin: string): boolean {
  if (judged !== undefined && judged.error === error) {
    const { wentOn } = judged;
    judged = undefined;
    return wentOn;
  }
  const from: UncaughtOrigin = origin === 'unhandledRejection' ? origin : 'uncaughtException';
  const wentOn = [...guards].some(({ goOn }) => quietly(() => goOn?.(error, from) === true) === true);
  if ([...guards].some(({ goOn }) => goOn !== undefined)) judged = { error, wentOn };
  return wentOn;
}

function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    // A throw in here would end the process for a second reason and hide the first.
    return undefined;
  }
}
