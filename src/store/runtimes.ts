import { hostname } from 'node:os';
import type { Effect } from '../policy/effects.ts';
import type { Fact } from '../policy/facts/facts.ts';
import { judge, type Liveness, type ProcessWorld } from '../actors/process/processIdentity.ts';

/** Interval at which a live run renews its row, in ms. */
export const renewEveryMs = 60_000;
/** A run of which the system cannot say whether it lives counts as dead after so long without renewal, in ms. */
const unknownForMs = 5 * renewEveryMs;

/** Run of a runtime. Times are wall time in ms since the epoch. */
export interface RuntimeRow {
  readonly id: string;
  readonly pid: number;
  /** By which its process is told from a later one of the same pid; empty when the system did not say. */
  readonly processStart: string;
  readonly startedAt: number;
  /** It is renewed every minute. */
  readonly renewedAt: number;
  /** Time of its last event, where somebody has looked and that came after its renewal. @defaultValue `renewedAt` */
  readonly lastSignAt?: number | undefined;
  /** Name that it gives itself, for people. */
  readonly name: string;
  /** Socket where it is reached; undefined when it listens nowhere. */
  readonly socket: string | undefined;
  /** Calls of no session that it had under way for a second or more when it wrote this; only a file keeps them. @defaultValue none */
  readonly calls?: readonly OpenCall[] | undefined;
  /** The machine that it runs on, where several share a store: it is reached from there alone. @defaultValue this one */
  readonly host?: string | undefined;
  /** For how long it was not renewed, in ms, by the clock of a store that has one. @defaultValue by `renewedAt` and ours */
  readonly silentMs?: number | undefined;
  /** True once its lease has run out, where it has one with the store: it is dead, or as good as. @defaultValue false */
  readonly hasExpired?: boolean | undefined;
}

/** A call that a run has under way. */
export interface OpenCall {
  readonly integration: string;
  readonly call: string;
  /** The tool that it calls, or how it is called else. */
  readonly tool: string;
  readonly effect?: Effect | undefined;
  /** Wall time in ms since the epoch. */
  readonly startedAt: number;
}

/** A run, and whether its process is still there. */
export interface JudgedRuntime extends RuntimeRow {
  readonly liveness: Liveness;
}

/** A run as sessions are claimed by it. */
export interface RuntimeIdentity {
  /** The id it has entered itself with, see {@link Runtimes}. */
  readonly id: string;
  /** Tells whether another run that is entered still lives; asked inside a transaction. */
  readonly isAlive: (run: RuntimeRow) => boolean;
}

/** The runs of a store as its runtimes see them. Nothing here throws or rejects; a store that is out of order is left alone. */
export interface Runtimes {
  /** Enters a run or renews it, with the commit of this turn. */
  enter(run: RuntimeRow): void;
  /** Takes a run off, with the commit of this turn. */
  leave(id: string): void;
  /** The processes of the runs that are entered; none while the store is out of order. */
  pids(): Promise<readonly number[]>;
  /**
   * Takes the runs off whose process is gone, judged as {@link judgeRuntimes} does. One stays of whose sessions messages or calls wait that no
   * other has claimed: that it is gone is told until then. A store in memory keeps none.
   * @param facts - what is to be recorded of one that died, with the commit that takes it off. @defaultValue nothing
   * @returns those that died and that this call took off: of several that look at once each is given to one.
   */
  removeDead(
    world: ProcessWorld,
    wallNow: number,
    facts?: (run: RuntimeRow) => readonly Fact[],
  ): Promise<readonly RuntimeRow[]>;
}

/**
 * Judges each run by pid and process start. One that cannot be judged, on another machine say, is `unknown` as long as it is renewed.
 * @param wallNow - wall time in ms since the epoch.
 */
export function judgeRuntimes(
  rows: readonly RuntimeRow[],
  world: ProcessWorld,
  wallNow: number,
): readonly JudgedRuntime[] {
  return rows.map((row) => {
    const liveness = isElsewhere(row) ? 'unknown' : judge(world, { pid: row.pid, start: row.processStart });
    const silentMs = row.silentMs ?? wallNow - row.renewedAt;
    const forgotten = liveness === 'unknown' && (row.hasExpired === true || silentMs >= unknownForMs);
    return { ...row, liveness: forgotten ? 'dead' : liveness };
  });
}

/** Tells whether a run is on another machine. */
export function isElsewhere({ host }: Pick<RuntimeRow, 'host'>): boolean {
  return host !== undefined && host !== hostname();
}
