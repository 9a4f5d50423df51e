import type { CallPath } from '../calls/callPath.ts';
import type { DeadlineQueue } from '../calls/deadlineQueue.ts';
import type { Drainable } from '../calls/draining.ts';
import type { BudgetParts } from '../calls/rates/budgetAccount.ts';
import type { RateBuckets } from '../calls/rates/rateBuckets.ts';
import type { SignalFanout } from '../calls/signalFanout.ts';
import type { Tracing } from '../calls/tracing.ts';
import type { RegisterChild } from '../policy/records/childRecord.ts';
import type { Clock, Random } from '../policy/clock.ts';
import type { Logger } from '../policy/text/logger.ts';
import type { Policies } from '../policy/policies.ts';
import type { OwnProfiles } from '../protocol/agents/profiles.ts';
import type { KnownSecrets } from '../redaction/knownSecrets.ts';
import type { FactRedactor } from '../redaction/redactFact.ts';
import type { Flights } from './flights.ts';
import type { StoredInbox } from './inbox.ts';
import type { LastingCalls } from './lastingCalls.ts';
import type { CallStatistics } from './callStatistics.ts';
import type { SharedBreakers } from './sharedBreakers.ts';
import type { ResultFiles } from '../store/resultFiles.ts';
import type { Store } from '../store/store.ts';
import type { ChildSpec } from '../supervisor/childSpec.ts';
import type { RootSupervisor } from '../supervisor/supervisor.ts';
import type { Bus } from '../telemetry/bus.ts';

/** An integration as its registry sees it. */
export type RegisteredPath = Pick<
  CallPath<unknown, unknown>,
  | 'name'
  | 'link'
  | 'stats'
  | 'rateWait'
  | 'pendingLong'
  | 'keptAnswers'
  | 'comeback'
  | 'openTools'
  | 'busy'
  | 'restart'
  | 'isolate'
  | 'reset'
  | 'probe'
  | 'drain'
  | 'forget'
  | 'stop'
>;

/** Role of an integration in the registry. */
export interface PathRole {
  /** True where it serves what is under way, so that a drain admits its calls to the end. @defaultValue false */
  readonly serves?: boolean | undefined;
  /** True where it tells of what has happened: a stop cuts its calls last, see `lastCallsMs` of the registry. @defaultValue false */
  readonly outlasts?: boolean | undefined;
  /** Called by a restart by name, beside ending its calls and closing its circuit. */
  readonly onRestart?: (() => void) | undefined;
}

/**
 * Part that a registry starts, drains and stops beside integrations and sessions, step by step. No step may throw. Parts take a step in the order in which
 * they joined.
 */
export interface Part extends Partial<Drainable>, Pick<PathRole, 'outlasts'> {
  /** Resolves when it can start without waiting for what it is made of. Never rejects. */
  loaded?(): Promise<void>;
  /** The root supervisor runs. */
  started?(): void;
  /** The first step of the stop: sessions are still open. */
  beforeSessions?(): void;
  /** Sessions are closed; calls go on. */
  beforeCalls?(): void;
  /** Calls have been ended; children still run. */
  afterCalls?(): void;
  /** The last child has ended; the store still takes records. */
  afterChildren?(): void;
}

/** Surroundings that the parts of one host share; nothing of it is global. */
export interface Runtime {
  /** Name by which commands of other processes show it. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  /** Configuration of its integrations, and its presets. */
  readonly policies: Policies;
  /** Profiles of agents of the user's own. */
  readonly agentProfiles: OwnProfiles;
  readonly bus: Bus;
  /** Secrets that must not leave it; a part that starts a child adds what the child is given. */
  readonly secrets: KnownSecrets;
  /** Takes secrets out of a long answer that anybody may read. */
  readonly redactAnswer: FactRedactor;
  /** Environment of children that are not given an `envMode` of their own. */
  readonly environment: 'extend' | 'safe';
  readonly deadlines: DeadlineQueue;
  readonly signals: SignalFanout;
  /** Follows its calls and turns. */
  readonly tracing: Tracing;
  /** Rate limits by key, those of declared integrations and any others. */
  readonly rates: RateBuckets;
  /** What its sessions, integrations and proxies may spend. */
  readonly budgets: BudgetParts;
  /** Findings of other processes on servers that this one calls as well. */
  readonly sharedBreakers: SharedBreakers;
  /** Counts of how calls end. */
  readonly statistics: CallStatistics;
  /** The last attempts of its integrations. */
  readonly flights: Flights;
  /** Calls of no session that are on record while they are open. */
  readonly lasting: LastingCalls;
  /** Large results of tools. */
  readonly results: ResultFiles;
  /** Questions to people that outlive the process. @defaultValue each is asked by its code alone */
  readonly inbox: StoredInbox | undefined;
  readonly root: RootSupervisor;
  /** Keeps a record of a live child, for the next start to end what outlives this process. */
  readonly register?: RegisterChild | undefined;
  /** Receives diagnostics of what runs in it. */
  readonly logger?: Logger | undefined;
  /** True once it has been started, until it is told to stop. */
  readonly running: boolean;
  /** True once it was told to stop; nothing may be added then. */
  readonly stopped: boolean;
  /** Open while the runtime runs. */
  store(): Store | undefined;
  /** Has the root supervisor start a child: now when it runs, else when it does, in the order of adding. */
  supervise(spec: ChildSpec): void;
  /** @throws TypeError, RangeError or Error when no integration of this name may be added. */
  declare(name: string): void;
  /** An integration of this name, or the hook `hook:NAME`. */
  path(name: string): RegisteredPath | undefined;
  /** Has an integration drained, restarted by name and stopped with the rest. */
  enter(path: RegisteredPath, role?: PathRole): void;
  /** Ends an integration for good: its calls, its server, its circuit. Its name is free when this resolves; never rejects. */
  leave(name: string): Promise<void>;
  /** Has a part started, drained and stopped with the rest. @returns how it leaves. */
  join(part: Part): () => void;
}
