import type { FactOf, FactType, Told } from '../policy/facts/facts.ts';
import { callback, type Given, signal as signalKey } from '../policy/options/optionKeys.ts';
import { readGiven } from '../policy/options/readOptions.ts';
import type { CheckName, Closers, Listen } from './listener.ts';

const waitKeys = {
  /** Gives up waiting; the promise rejects with its reason. */
  signal: signalKey,
  where: callback<(fact: never) => boolean>(),
};

/** Event that is waited for, and when waiting is given up. */
export interface WaitOptions<K extends FactType> extends Given<typeof waitKeys> {
  /** Tells whether this fact is the one. @defaultValue every fact of the type */
  readonly where?: ((fact: Told<FactOf<K>>) => boolean) | undefined;
}

/** The next fact of a type as a promise. @throws TypeError or RangeError that names the option and the value. */
export function waitForFact<K extends FactType>(
  on: Listen,
  closers: Closers,
  type: K,
  options: WaitOptions<K> = {},
  checkType: CheckName = () => undefined,
): Promise<Told<FactOf<K>>> {
  checkType('event', type);
  readGiven('options', options, waitKeys);
  const { signal, where } = options;
  const found = new Promise<Told<FactOf<K>>>((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const remove = on(type, (fact) => {
      const told = fact as Told<FactOf<K>>;
      try {
        if (where !== undefined && !where(told)) return;
        end();
        resolve(told);
      } catch (error) {
        end();
        reject(error as Error);
      }
    });
    const abort = () => {
      end();
      reject(signal?.reason as Error);
    };
    const close = () => {
      end();
      reject(new Error(`The bus was closed while waiting for ${type}`));
    };
    const end = () => {
      remove();
      signal?.removeEventListener('abort', abort);
      closers.delete(close);
    };
    signal?.addEventListener('abort', abort, { once: true });
    closers.add(close);
  });
  // The caller still gets the rejection; a wait that nobody looks at any more must not end the process.
  found.catch(() => undefined);
  return found;
}
