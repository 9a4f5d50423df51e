import { polled, shortageText } from '../../src/actors/process/face.ts';
import { leaseOwner, lightClock } from '../../src/runtime/face.ts';
import { type Logger, formatDuration } from '../../src/policy/text/face.ts';
import type { Facts } from '../../src/policy/facts/face.ts';
import type { HookInput } from './hostInput.ts';
import type { Store } from '../../src/store/face.ts';
import { hookMarker } from './hookMarker.ts';
import type { HookAdmission } from './hookTally.ts';
import type { HookFailure } from './hookOutcome.ts';

interface HookCircuitOptions {
  readonly name: string;
  /** Absolute path of the database, or `:memory:`: then nothing is kept. */
  readonly database: string;
  /** Returns the time that the database may keep the hook waiting from now, in ms; 0: it is not asked. */
  readonly budgetMs: () => number;
  /** @defaultValue that of this file */
  readonly open?: typeof openHookStore;
}

/** Loaded where there is something to read or to write: a sound hook is told from the marker alone. */
const tally = () => import('./hookTally.ts');

/**
 * The circuit of a hook, shared through the store by all processes that run it. Nothing here throws, or takes long.
 * The store is opened only when there is something to write, or the marker says that there is something to read.
 */
export function createHookCircuit({ name, database, budgetMs, open = openHookStore }: HookCircuitOptions) {
  const run = {
    key: `hook:${name}`,
    // Costs a look at the process table, which the usual run has no need of.
    get owner() {
      return leaseOwner();
    },
  };
  const marker = hookMarker(database, name);
  const isKept = database !== ':memory:';
  let trouble: string | undefined;
  const note = (message: string): void => {
    trouble ??= message;
  };

  /** Undefined when the database took too long. */
  async function use<T>(work: (store: Store) => T | Promise<T>): Promise<T | undefined> {
    const limitMs = budgetMs();
    if (limitMs <= 0) {
      note('there was no time left for it');
      return undefined;
    }
    let isLate = false;
    // Work that was given up is not begun later: it would be on record though somebody was told that it is not.
    const inTime = async (store: Store): Promise<T | undefined> => (isLate ? undefined : work(store));
    const done = withStore(() => open(database, note), inTime).catch((error: unknown) => {
      note(shortageText(error) ?? String(error));
      return undefined;
    });
    const late = new Promise<undefined>((resolve) => {
      const giveUp = (): void => {
        isLate = true;
        note(`the database did not answer within ${formatDuration(limitMs)}`);
        resolve(undefined);
      };
      // Its answer may be there already: opening it holds the event loop.
      setTimeout(() => void polled(lightClock).then(giveUp), limitMs);
    });
    return Promise.race([done, late]);
  }

  return {
    use,
    /** Why the database was of no use, in one line; undefined where it was, or was not asked. */
    trouble: (): string | undefined => trouble,
    /** @param leaseMs - gives how long the run may take, for others to wait if it is a probe; asked for only where the hook has failed. */
    async admit(leaseMs: () => number): Promise<HookAdmission> {
      if (!isKept || !marker.isThere()) return { admitted: true };
      return (await use(async (store) => (await tally()).admitRun(store, run, leaseMs()))) ?? { admitted: true };
    },
    /** The hook proved life. */
    async answered(admission: HookAdmission): Promise<void> {
      if (!isKept || !marker.isThere()) return;
      marker.remove();
      const isClean = await use(async (store) => (await tally()).countAnswer(store, run, probeOf(admission)));
      if (isClean !== true) marker.leave();
    },
    /** The run says nothing about the hook. */
    async ignored(admission: HookAdmission): Promise<void> {
      if (probeOf(admission) !== undefined) await use((store) => store.breakers.releaseProbe(run.key, run.owner));
    },
    /** Counts and records the failure; gives why it could not, in one line. */
    async failed(
      failure: HookFailure,
      about: HookInput | undefined,
      admission: HookAdmission,
    ): Promise<string | undefined> {
      if (!isKept) return undefined;
      const { event = '', action = '', session } = about ?? {};
      const isAlive = failure.exitCode !== undefined;
      let isRecorded = false;
      let isClean = !(isAlive && marker.isThere());
      if (!isClean) marker.remove();
      await use(async (store) => {
        const { countAnswer, countFailure, record } = await tally();
        record(store, { type: 'hook.failed', hook: name, event, action, session, error: failure.message });
        if (failure.counts) await countFailure(store, run, failure, probeOf(admission));
        else if (isAlive) isClean = countAnswer(store, run, probeOf(admission));
        else store.breakers.releaseProbe(run.key, run.owner);
        isRecorded = await store.flush();
      });
      if (failure.counts || !isClean) marker.leave();
      // The caller asks only whether it is on record, not what the database had to say, or how long it took to close.
      return isRecorded ? undefined : (trouble ?? 'the database did not take it');
    },
  };
}

function probeOf(admission: HookAdmission) {
  return admission.admitted ? admission.probe : undefined;
}

/** Opens the database of a hook; `note` hears what is wrong with it. */
export async function openHookStore(path: string, note: (message: string) => void): Promise<Store> {
  const [{ openStore }, { hookSecrets }] = await Promise.all([import('../../src/store/openStore.ts'), tally()]);
  const logger: Logger = { debug: ignore, info: ignore, warn: note, error: note };
  return openStore({ path, clock: lightClock, facts: nobody, logger, secrets: hookSecrets });
}

async function withStore<T>(open: () => Promise<Store>, work: (store: Store) => T | Promise<T>): Promise<T> {
  const store = await open();
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const nobody: Facts = { tell: ignore, wants: () => false };

function ignore(): void {}
