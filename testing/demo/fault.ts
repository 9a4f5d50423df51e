import type { FailureKind, Gateway, ToolResult, Turn } from '../../src/index.ts';
import type { FaultyUpstream } from '../faultyUpstream.ts';
import type { FaultName } from './faultNames.ts';
import type { ProcessLog } from './processLog.ts';
import type { WsUpstream } from './wsUpstream.ts';

/** Stage that the faults of one tour share. */
export interface Stage {
  readonly gateway: Gateway;
  readonly http: FaultyUpstream;
  readonly ws: WsUpstream;
  readonly processes: ProcessLog;
  /** Private, and there as long as the tour. */
  readonly directory: string;
  /** Aborted when the tour is to end early. */
  readonly signal: AbortSignal;
}

/** Faults of one lane befall the same session, one after the other; lanes run side by side. */
export type LaneName = 'mcp' | 'ws' | 'http' | 'cli' | 'hooks' | 'watchdog';

/** A row that must be in the database: `category/event_type`, and fields of its metadata. */
export interface ExpectedRecord {
  readonly type: string;
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
}

/** End that the call of a fault must have. */
export interface Expected {
  /** `ok`, or the kind of the final failure. */
  readonly outcome: 'ok' | FailureKind;
  /** True where a synthetic result stands for an answer that never came. @defaultValue false */
  readonly synthetic?: boolean | undefined;
  /** Attempts beyond the first: least and most. */
  readonly retries: readonly [least: number, most: number];
  /** Cause that the message of the first failed attempt must tell. */
  readonly cause?: string | undefined;
  /** The waits before those, in ms, where the policy leaves no choice. */
  readonly waitsMs?: readonly number[] | undefined;
  /** In ms. @defaultValue 0 */
  readonly leastMs?: number | undefined;
  /** In ms; generous, as the machine may be busy. @defaultValue 15 s */
  readonly mostMs?: number | undefined;
  /** The most telling first: it stands for the others in the table. */
  readonly records: readonly ExpectedRecord[];
}

/** Fault to happen, and the way a session must come out of it. */
export interface Fault {
  readonly name: FaultName;
  readonly lane: LaneName;
  /** The integration that the session calls. */
  readonly integration: string;
  /** Declares what is called. Faults that share it name the same function. */
  readonly declare: (stage: Stage) => void;
  /** A turn before: what the fault is to strike must be seen to work. */
  readonly prepare?: ((turn: Turn) => Promise<ToolResult>) | undefined;
  /** The session's turn, in which the fault strikes. */
  readonly run: (turn: Turn, stage: Stage) => Promise<ToolResult>;
  /** After the session went on: waits for what goes on behind, and says what is wrong with it. */
  readonly settle?: ((stage: Stage) => Promise<string | undefined>) | undefined;
  readonly expected: Expected;
  /** Trouble that the call came through, where no failure of an attempt tells. */
  readonly despite?: string | undefined;
}

/** Longest time that the call of a fault may take where nothing else is said, in ms. */
export const usualMostMs = 15_000;
