import type { LiveIntegration } from '../../src/control/face.ts';
import type { BreakerCause, Question, ReportEntry } from '../../src/policy/records/face.ts';
import type { OrderName } from '../../operator/order.ts';
import type { AlertNote } from '../../reader/alertNote.ts';
import type { BulkProgress } from '../../operator/bulkOrder.ts';
import type { Liveness } from '../../src/actors/process/face.ts';
import type { SessionWhy } from '../../src/sessions/face.ts';
import type { SessionRecords } from '../../reader/storeReader.ts';
import type { TreeNode } from '../../src/supervisor/face.ts';
import type { TurnLine } from './turnLines.ts';

/** Content of the page, of all gateways that run on one database. Times are wall time in ms since the epoch. */
export interface Snapshot {
  /** Time at which it was made. */
  readonly at: number;
  /** Title of the page: the name of the gateway, or of the database where none or several run. */
  readonly title: string;
  readonly database: string;
  /** Time in ms that the figures look back. */
  readonly spanMs: number;
  /** All integrations together. */
  readonly total?: ReportEntry | undefined;
  /** Dead letters, at most 500. */
  readonly letters: number;
  readonly runtimes: readonly RuntimeLine[];
  readonly integrations: readonly IntegrationLine[];
  readonly sessions: readonly SessionLine[];
  readonly waits: readonly Wait[];
  readonly alerts: readonly AlertLine[];
  readonly bulks: readonly BulkLine[];
}

/** Times in ms that figures may look back. */
export const spans = { '15m': 900_000, '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;

/** Findings about gateways at one look; the dashboard's own work comes to it. */
export type Look = Omit<Snapshot, 'bulks'>;

/** The lists of a snapshot: their rows are told apart by `key`. */
export const lists = ['runtimes', 'integrations', 'sessions', 'waits', 'alerts', 'bulks'] as const;

export interface RuntimeLine {
  readonly key: string;
  readonly name: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly liveness: Liveness;
  /** Why it does not answer. @defaultValue it does */
  readonly problem?: string | undefined;
  /** True where its process runs and does not answer: the page shows what the database knows of it. @defaultValue false */
  readonly isFrozen?: boolean | undefined;
}

/** The last that went wrong. */
interface LastError {
  readonly at: number;
  readonly kind?: string | undefined;
  readonly error: string;
}

export interface IntegrationLine {
  /** Its name. */
  readonly key: string;
  readonly circuit: LiveIntegration['circuit'];
  /** The state of its machine; undefined where no live gateway has it. */
  readonly state?: string | undefined;
  readonly inFlight: number;
  readonly waiting: number;
  /** Keys of the live gateways that have it. */
  readonly runtimes: readonly string[];
  readonly openedAt?: number | undefined;
  readonly probeAt?: number | undefined;
  /** Until when its server asked not to be called. */
  readonly pausedUntil?: number | undefined;
  readonly cause?: BreakerCause | undefined;
  readonly failures10m: number;
  readonly crashes10m: number;
  readonly lastError?: LastError | undefined;
  readonly report?: ReportEntry | undefined;
}

export interface SessionLine {
  /** Its id. */
  readonly key: string;
  /** The state of its machine; undefined where no live gateway has it. */
  readonly state?: string | undefined;
  /** Messages in its mailbox. */
  readonly waiting: number;
  readonly lastSeenAt?: number | undefined;
  readonly failedTurns24h: number;
  readonly lastError?: LastError | undefined;
}

/** Something that waits: who, for what, and what ends it. */
export interface Wait {
  readonly key: string;
  /** True where no rule can mend it, so that a person has to. */
  readonly needsPerson: boolean;
  readonly sign:
    | 'asks'
    | 'quarantined'
    | 'alert'
    | 'open'
    | 'isolated'
    | 'crashed'
    | 'backoff'
    | 'calling'
    | 'frozen'
    | 'dead'
    | 'letters'
    | 'budget'
    | 'spinning'
    | 'recovering';
  /** Name of the integration, session or gateway. */
  readonly name: string;
  readonly of: 'integration' | 'session' | 'gateway' | 'letters' | 'question';
  /** Text in one sentence. */
  readonly text: string;
  /** The last error, in the words of the other side. */
  readonly error?: string | undefined;
  /** Rule that ends it, such as `Next probe`. @defaultValue nothing */
  readonly rule?: string | undefined;
  readonly endsAt?: number | undefined;
  readonly since?: number | undefined;
  /** Order that helps. @defaultValue a look at it */
  readonly order?: 'restart' | 'reset' | 'budget' | undefined;
  /** Question of the inbox that can be answered here. */
  readonly question?: Pick<Question, 'id' | 'form'> | undefined;
  /** Limit that the order proposes. */
  readonly target?: string | undefined;
}

export interface AlertLine {
  readonly key: string;
  readonly integration: string;
  readonly state: 'open' | 'unwatched' | 'cleared';
  readonly raisedAt?: number | undefined;
  readonly clearedAt?: number | undefined;
  readonly failures: number;
  readonly crashes: number;
  readonly lastFailureAt: number;
  readonly text: string;
  /** Rule that clears it, such as `All clear without a failure`. @defaultValue it is cleared */
  readonly rule?: string | undefined;
  /** Time at which that clears it. */
  readonly endsAt?: number | undefined;
  /** Note of who looks after it, or has put it off. @defaultValue nobody */
  readonly note?: AlertNote | undefined;
}

/** An order on many that this dashboard gives, or has given last. */
export interface BulkLine extends BulkProgress {
  readonly key: string;
  readonly order: OrderName;
  readonly by: string;
  readonly startedAt: number;
}

/** A session as a live gateway sees it, and as it is on record. */
export interface SessionDetail {
  readonly session: string;
  /** Time at which it was asked. */
  readonly at: number;
  readonly why?: SessionWhy | undefined;
  readonly records?: SessionRecords | undefined;
  /** Its last turns on record, newest first. */
  readonly turns: readonly TurnLine[];
}

/** The supervision tree of a live gateway. */
export interface RuntimeTree {
  readonly runtime: RuntimeLine;
  readonly at: number;
  readonly tree?: TreeNode | undefined;
}
