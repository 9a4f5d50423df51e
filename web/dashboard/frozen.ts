import type { LiveStatus } from '../../src/control/face.ts';
import type { AskedRuntime } from '../../operator/askRuntimes.ts';
import type { StoreReader } from '../../reader/storeReader.ts';

/** Pending records of sessions that no gateway answers for. */
export interface PendingRecords {
  readonly calls: number;
  readonly messages: number;
}

export const noPending: PendingRecords = { calls: 0, messages: 0 };

/** Sessions with work on record that are counted; beyond it the figures are of so many. */
const mostLooked = 200;

/** Remembers since when runtimes do not answer whose process runs. */
export class Frozen {
  readonly #since = new Map<string, number>();

  /** Returns those that do not answer now, by their id, with the time that was noticed first. @param at - wall time in ms since the epoch. */
  since(asked: readonly AskedRuntime<unknown>[], at: number): ReadonlyMap<string, number> {
    const now = asked.filter(({ frozen }) => frozen !== undefined).map(({ runtime }) => runtime.id);
    for (const id of this.#since.keys()) if (!now.includes(id)) this.#since.delete(id);
    for (const id of now) if (!this.#since.has(id)) this.#since.set(id, at);
    return new Map(this.#since);
  }
}

/** Reads from the database the work of runtimes that do not answer. */
export async function pendingRecords(
  reader: Pick<StoreReader, 'waitingSessions' | 'session'>,
  asked: readonly AskedRuntime<LiveStatus>[],
): Promise<PendingRecords> {
  const answered = new Set(asked.flatMap(({ answer }) => (answer?.sessions ?? []).map(({ session }) => session)));
  const silent = (await reader.waitingSessions()).filter((session) => !answered.has(session)).slice(0, mostLooked);
  const records = await Promise.all(silent.map((session) => reader.session(session)));
  return records.reduce<PendingRecords>(
    (sum, each) => ({
      calls: sum.calls + (each?.calls.length ?? 0),
      messages: sum.messages + (each?.messages.length ?? 0),
    }),
    noPending,
  );
}
