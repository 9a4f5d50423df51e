import { createGateway } from '../gateway/gateway.ts';
import type { Gateway } from '../gateway/gatewayTypes.ts';
import type { Clock } from '../policy/clock.ts';
import type { Duration } from '../policy/duration.ts';
import { type HostLogger, loggerKey } from '../policy/hostLogger.ts';
import { anything, duration, type Key, type KeysOf, text } from '../policy/optionKeys.ts';
import { readOptions } from '../policy/readOptions.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { registryOf } from '../runtime/registryOf.ts';
import { systemClock } from '../runtime/systemClock.ts';
import { RunRecords } from './runRecords.ts';
import { SupervisedRun } from './supervisedRun.ts';
import type { ProcessSupervisor, SpawnInput, TerminationReason } from './supervisorTypes.ts';

/** Under which gateway the processes run, and how they are ended. */
export interface ProcessSupervisorOptions {
  /** The gateway under which the processes run, in its tree, its events and its store; it is started and stopped by its owner. @defaultValue one of its own */
  readonly gateway?: Gateway | undefined;
  /** SQLite file of the gateway of its own, so that the next start ends what `kill -9` left behind. Not beside `gateway`. @defaultValue nothing is kept */
  readonly store?: string | undefined;
  /** Gets what the gateway of its own has to say. Not beside `gateway`. @defaultValue none */
  readonly logger?: HostLogger | false | undefined;
  /** Between SIGTERM and SIGKILL of a run that is cancelled, in ms, at least 0. @defaultValue 5000 */
  readonly graceMs?: Duration | undefined;
  /** Not beside `gateway`. @defaultValue the system's */
  readonly clock?: Clock | undefined;
}

const keys = {
  gateway: anything as Key<Gateway | undefined>,
  store: text(),
  logger: loggerKey,
  graceMs: duration({ zero: true, default: 5000 }),
  clock: anything as Key<Clock | undefined>,
} satisfies KeysOf<ProcessSupervisorOptions>;

/**
 * A process supervisor in the shape of OpenClaw's, to be injected in its place. What it adds: whole process trees end, also after `kill -9` of
 * the gateway; limits leave out the time in which the gateway itself stood still; every start and end is an event.
 * @throws TypeError or RangeError that names the option and its value.
 *
 * @example
 * const supervisor = createProcessSupervisor({ store: 'processes.sqlite' });
 * const run = await supervisor.spawn({ mode: 'child', argv: ['git', 'status'], sessionId: 'main', backendId: 'git', timeoutMs: 10_000 });
 * const { reason, exitCode, stdout } = await run.wait();
 * await supervisor.shutdown();
 */
export function createProcessSupervisor(options: ProcessSupervisorOptions = {}): ProcessSupervisor {
  const { gateway: given, graceMs, store, clock = systemClock } = readOptions('options', options, keys);
  const beside = (['store', 'logger', 'clock'] as const).find((name) => options[name] !== undefined);
  if (given !== undefined && beside !== undefined)
    throw new TypeError(`Expected \`options.${beside}\` to be left out beside \`gateway\`, which has its own`);
  const gateway = given ?? createGateway({ clock, logger: options.logger ?? false, store });
  const registry = typeof gateway === 'object' && gateway !== null ? registryOf(gateway) : undefined;
  if (registry === undefined) throw new TypeError('Expected `options.gateway` to be made by createGateway');
  return supervisorOver(registry.runtime, graceMs, given === undefined ? gateway : undefined);
}

/** @param owned - the gateway that is started by the first run and stopped at the end. */
function supervisorOver(runtime: Runtime, graceMs: number, owned: Gateway | undefined): ProcessSupervisor {
  const records = new RunRecords();
  const now = (): number => Math.round(runtime.clock.wallNow());
  const scope = { runtime, records, graceMs };
  /** Runs that have not ended, those that are just starting too; each with what resolves when its process tree is gone. */
  const active = new Map<SupervisedRun, Promise<unknown>>();
  /** In each scope the last start that replaces others: what comes after it waits for it. */
  const replacing = new Map<string, Promise<unknown>>();
  let starting: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;

  const cancelWhere = (of: (run: SupervisedRun) => boolean, reason?: TerminationReason): SupervisedRun[] => {
    const found = [...active.keys()].filter(of);
    for (const run of found) run.cancel(reason);
    return found;
  };
  const ofScope = (scopeKey: string) => (run: SupervisedRun) => run.scopeKey === scopeKey.trim();
  const endOf = (found: readonly SupervisedRun[]): Promise<unknown> =>
    Promise.all(found.flatMap((run) => active.get(run) ?? []));

  function ready(): Promise<void> {
    if (owned === undefined) return Promise.resolve();
    return (starting ??= owned.start());
  }

  /** Before a run starts: replaced ones have ended, and so have starts that replace others. */
  async function prepare(run: SupervisedRun, replaced: readonly SupervisedRun[]): Promise<void> {
    if (run.scopeKey !== undefined) await replacing.get(run.scopeKey);
    await endOf(replaced);
    await ready();
  }

  return {
    async spawn(input: SpawnInput) {
      if (stopping !== undefined) throw new Error('process supervisor is shut down');
      const run = new SupervisedRun(input, records, now);
      const { scopeKey } = run;
      const replaces = input.replaceExistingScope === true && scopeKey !== undefined;
      const replaced = replaces ? cancelWhere(ofScope(scopeKey)) : [];
      const begun = run.start(scope, prepare(run, replaced));
      const ended = begun.then(
        (managed) => managed.waitForExtinction(),
        () => undefined,
      );
      active.set(run, ended);
      void ended.then(() => active.delete(run));
      if (replaces) {
        const settled = begun.then(
          () => undefined,
          () => undefined,
        );
        replacing.set(scopeKey, settled);
        void settled.then(() => replacing.get(scopeKey) === settled && replacing.delete(scopeKey));
      }
      return begun;
    },
    cancel: (runId, reason) => void cancelWhere((run) => run.runId === runId, reason),
    cancelScope: (scopeKey, reason) => {
      if (scopeKey.trim() !== '') cancelWhere(ofScope(scopeKey), reason);
    },
    cancelAll: (reason) => void cancelWhere(() => true, reason),
    async reconcileOrphans(params) {
      // Its start ends what is left of an earlier process.
      await ready();
      const untracked =
        params === undefined ? [] : cancelWhere((run) => !params.isSessionTracked(run.sessionId), params.reason);
      return { cancelledRunIds: untracked.map(({ runId }) => runId) };
    },
    getRecord: (runId) => records.get(runId),
    acquireScopeCleanup(scopeKey) {
      let closing: Promise<void> | undefined;
      return () => (closing ??= drained(scopeKey));
    },
    shutdown: () => (stopping ??= stop()),
  };

  async function drained(scopeKey: string): Promise<void> {
    await endOf(cancelWhere(ofScope(scopeKey)));
  }

  async function stop(): Promise<void> {
    await endOf(cancelWhere(() => true));
    await starting;
    await owned?.stop();
  }
}
