import type { CallPath } from '../../src/calls/face.ts';
import type { McpAnswer } from '../../src/protocol/mcp/face.ts';
import { inTime } from '../../src/policy/face.ts';
import { seeRuns } from '../../src/runtime/face.ts';
import type { EventRow, Store } from '../../src/store/face.ts';
import type { ClientCall } from './clientCall.ts';
import type { ProxyScope } from './proxyScope.ts';

/** How far the record is looked through for calls that were kept, in ms, and the most that is looked at. */
const [reachMs, mostRecords] = [3_600_000, 1000];
/** Longest wait for the record, in ms: a disk that hangs holds nobody. */
const patienceMs = 1000;

/**
 * Takes up the calls that proxies of this name had kept as their process ended, of which nobody was told what they came to: their answers are lost,
 * whether or not the server goes on, so that the first equal call is told so in place of being made again. Resolves within a second; never rejects.
 */
export async function takeUpKept(scope: ProxyScope, path: CallPath<ClientCall, McpAnswer>): Promise<void> {
  if (scope.session !== undefined)
    await inTime(restore(scope, scope.session, path), { clock: scope.clock, limitMs: patienceMs });
}

/** Tells whether what was told so far is on disk. Resolves within a second; never rejects. */
export async function isOnRecord(scope: ProxyScope): Promise<boolean> {
  const written = storeOf(scope).then((store) => store?.persistent === true && store.flush());
  return (await inTime(written, { clock: scope.clock, limitMs: patienceMs })) === true;
}

async function storeOf({ runtime, voice }: ProxyScope): Promise<Store | undefined> {
  if (runtime.store() === undefined) await voice.stored;
  return runtime.store();
}

async function restore(scope: ProxyScope, session: string, path: CallPath<ClientCall, McpAnswer>): Promise<void> {
  const { name, clock } = scope;
  const store = await storeOf(scope);
  if (store === undefined) return;
  const [now, wallNow] = [clock.now(), clock.wallNow()];
  const read = (text: string): Promise<readonly EventRow[]> =>
    store.read({ integration: name, text, since: wallNow - reachMs, limit: mostRecords });
  // Of calls that are kept, and of which it ended.
  const kept = await read('integration/kept');
  const told = kept.length === 0 ? [] : [...kept, ...(await read('integration/joined'))];
  const { entries } = await seeRuns(clock, told.map(pidOf));
  const living = new Set(entries.filter(({ zombie }) => !zombie).map(({ pid }) => pid));
  // In a container every process may have the same pid.
  const isAlive = (row: EventRow): boolean =>
    living.has(pidOf(row)) && (pidOf(row) !== process.pid || row.at >= performance.timeOrigin);
  const before = (at: number): number => now - Math.max(0, wallNow - at);
  for (const row of kept) {
    const { input_key: key, for_ms: forMs } = row.metadata;
    if (typeof key !== 'string' || living.size === 0 || isAlive(row)) continue;
    if (told.some((later) => later.id > row.id && isWordOf(later, row))) continue;
    const about = { id: nameOf(row), startedAt: before(row.at), given: undefined };
    const finding = {
      verdict: 'unknown',
      how: 'unwedge ended while it was kept, and what it came to is lost',
    } as const;
    path.starts.restoreKept(session, key, { at: before(row.at + Number(forMs)), kept: about, finding });
  }
}

const pidOf = ({ metadata }: EventRow): number => Number(metadata['runtime_pid']);
/** Ids of calls begin anew with each process. */
const nameOf = (kept: EventRow): string => `${String(kept.metadata['id'])} of ${pidOf(kept)}`;

/** Tells whether somebody was told what a kept call came to, or called it off. */
function isWordOf(later: EventRow, kept: EventRow): boolean {
  const { of, found, id, how, waited } = later.metadata;
  const isOwn = (call: unknown): boolean => pidOf(later) === pidOf(kept) && call === kept.metadata['id'];
  if (later.type === 'joined') return found !== 'running' && (of === nameOf(kept) || isOwn(of));
  return later.type === 'kept_ended' && isOwn(id) && (how === 'cancelled' || how === 'settled' || Number(waited) > 0);
}
