import { existsSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { type LiveSelf, readSelfAnswer, socketDirectories, socketsOf } from '../src/control/face.ts';
import { askRuntime } from './client.ts';
import { identifyNow } from '../src/actors/process/face.ts';
import type { RuntimeRow } from '../src/store/face.ts';
import type { StoreReader } from '../reader/storeReader.ts';
import { systemClock } from '../src/runtime/face.ts';

/** Time in which a socket must say whose it is, in ms. */
const answerMs = 500;

/**
 * The runtimes of a database: those that it lists, and where none of them has a socket any more, those that could not be entered, as while its
 * disk is full. They are found by their sockets, in the directories of this user. Never rejects.
 */
export async function runtimesOf(
  reader: Pick<StoreReader, 'path' | 'runtimes'>,
  now: number,
): Promise<readonly RuntimeRow[]> {
  return withUnlisted(await reader.runtimes(), reader.path, now);
}

/** The same of runtimes that were read. */
export async function withUnlisted(
  rows: readonly RuntimeRow[],
  path: string,
  now: number,
): Promise<readonly RuntimeRow[]> {
  if (realPathOf(path) === undefined || rows.some(({ socket }) => socket !== undefined && existsSync(socket)))
    return rows;
  const found = await runtimesBySocket(path, now);
  return [...rows, ...found.filter(({ id }) => !rows.some((row) => row.id === id))];
}

/**
 * The runtimes of this user on this machine that keep their records in a database, whatever that lists itself. Takes up to 500 ms; never rejects.
 * @param path - of the file, or where the PostgreSQL database is, as a reader names it.
 */
export async function runtimesBySocket(path: string, now: number): Promise<readonly RuntimeRow[]> {
  const placeOf = (database: string): string => realPathOf(database) ?? database;
  return (await liveSelves())
    .filter(({ database }) => database !== undefined && placeOf(database) === placeOf(path))
    .map(({ id, pid, name, startedAt, socket }) => {
      const processStart = identifyNow(pid)?.start ?? '';
      return { id, pid, processStart, startedAt, renewedAt: now, name, socket };
    });
}

/** A runtime of this user on this machine that keeps records, and where it does. */
export type OtherRuntime = Pick<LiveSelf, 'pid' | 'name' | 'startedAt'> & { readonly database: string };

/** The runtimes that run on other databases than this one, by their sockets, the oldest first. Takes up to 500 ms; never rejects. */
export async function runtimesElsewhere(path: string): Promise<readonly OtherRuntime[]> {
  const file = realPathOf(path) ?? path;
  return (await liveSelves())
    .flatMap(({ pid, name, startedAt, database }) =>
      database === undefined || database === ':memory:' || (realPathOf(database) ?? database) === file
        ? []
        : [{ pid, name, startedAt, database }],
    )
    .toSorted((one, other) => one.startedAt - other.startedAt);
}

/** Gives what the runtimes of this user say of themselves, those that answer. Never rejects. */
async function liveSelves(): Promise<readonly (LiveSelf & { readonly socket: string })[]> {
  const uid = process.getuid?.();
  if (uid === undefined) return [];
  const sockets = [...new Set(socketDirectories({ env: process.env, tmp: tmpdir() }, uid))].flatMap(socketsOf);
  const said = await Promise.all(
    sockets.map(async (socket) => {
      const answer = await askRuntime(socket, 'self', {}, { clock: systemClock, timeoutMs: answerMs });
      const self = answer.ok ? readSelfAnswer(answer.value) : undefined;
      return self === undefined ? [] : [{ ...self, socket }];
    }),
  );
  return said.flat();
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** Newest events that are looked at: more would cost a command more than they tell. */
const mostEvents = 1000;

/** Runtimes with their last sign of life on record: a runtime renews its row once a minute, and an event that it recorded after that is a later sign. */
export async function withLastSigns(
  rows: readonly RuntimeRow[],
  reader: Pick<StoreReader, 'events'>,
): Promise<readonly RuntimeRow[]> {
  if (rows.length === 0) return rows;
  const lastAt = new Map<unknown, number>();
  for (const { metadata, at } of await reader.events({ limit: mostEvents })) lastAt.set(metadata['runtime_pid'], at);
  return rows.map((row) => {
    const recordedAt = lastAt.get(row.pid) ?? row.renewedAt;
    // A process of before may have had its pid.
    return recordedAt > Math.max(row.renewedAt, row.startedAt) ? { ...row, lastSignAt: recordedAt } : row;
  });
}
