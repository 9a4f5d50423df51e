import type { SessionStatus, StoreReader } from '../reader/storeReader.ts';

/** A session, and whether its last failed turn is over for good. */
export interface SessionStanding extends SessionStatus {
  /** A turn went well after the last that failed. @defaultValue false */
  readonly recovered?: boolean | undefined;
}

/** Sessions that are looked up. */
const mostLooked = 50;
/** Events of a session that are read, the newest. */
const mostRead = 200;

/** The sessions, and of those with failed turns whether one has gone well since: nobody has to look at what is over. */
export async function withRecoveries(
  reader: Pick<StoreReader, 'events'>,
  sessions: readonly SessionStatus[],
): Promise<readonly SessionStanding[]> {
  let looked = 0;
  const told: SessionStanding[] = [];
  for (const each of sessions) {
    const isLooked = each.failedTurns24h > 0 && each.lastError !== undefined && looked++ < mostLooked;
    told.push(isLooked && (await hasRecovered(reader, each)) ? { ...each, recovered: true } : each);
  }
  return told;
}

async function hasRecovered(
  reader: Pick<StoreReader, 'events'>,
  { session, lastError }: SessionStatus,
): Promise<boolean> {
  const query = { category: 'session', session, since: lastError?.at, limit: mostRead };
  const turns = (await reader.events(query)).filter(({ type }) => type.startsWith('turn_'));
  const failedAt = turns.findLastIndex(({ type }) => type === 'turn_failed');
  return turns.slice(failedAt + 1).some(({ type, metadata }) => type === 'turn_ended' && metadata['ok'] === true);
}
