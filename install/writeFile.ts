import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ConfigFile } from './configFile.ts';
import { type FilePlan, hashOf } from './planFile.ts';
import type { FileRecord } from './record.ts';
import { type Files, replaceFile } from './files.ts';
import type { InstallState } from './state.ts';
import type { World } from './world.ts';

/** A directory is made in no time; older than this, its maker was killed. In ms. */
const ownStaleMs = 10_000;
/** Age of a stale lock that an agent holds while it writes, in ms. */
const agentStaleMs = 60_000;

/** Content to be written, and what it was planned from. */
interface Writing {
  readonly file: ConfigFile;
  /** Without symbolic links. */
  readonly path: string;
  readonly before: Buffer;
  readonly record: FileRecord | undefined;
  readonly plan: FilePlan & { readonly after: Buffer };
  readonly isUndo: boolean;
  /** The path of this program that is written into the file. */
  readonly script: string | undefined;
}

/** The file is not what the plan was made from. */
export class ChangedMeanwhile extends Error {
  override readonly name = 'ChangedMeanwhile';
}

/**
 * Writes a file by its plan, and gives the path of the backup; none is kept of what an undo put back to the byte. Before it the backups are written and the record, so that from any point on
 * an undo finds what it needs.
 * @throws {@link ChangedMeanwhile} when it is to be planned anew, LockedError, errors of the file system.
 */
export async function writePlanned(world: World, state: InstallState, writing: Writing): Promise<string | undefined> {
  const { files } = world;
  const { file, path, before, record, plan, isUndo, script } = writing;
  files.ensureDirectory(state.directory);
  const locks = [
    { path: join(state.directory, 'lock'), staleMs: ownStaleMs },
    ...(file.lock === undefined ? [] : [{ path: file.lock, staleMs: agentStaleMs }]),
  ];
  return withLocks(world, locks, () => {
    const isSame = () => files.read(path)?.equals(before) === true;
    const check = () => {
      if (!isSame()) throw new ChangedMeanwhile(path);
    };
    check();
    if (!isDeepStrictEqual(state.read().files[path], record)) throw new ChangedMeanwhile(path);
    const facts = files.facts(path);
    if (facts === undefined) throw new ChangedMeanwhile(path);
    const backup = state.keep(before);
    const dress = { mode: facts.mode, ...(world.uid === 0 ? { uid: facts.uid, gid: facts.gid } : {}) };
    if (isUndo) {
      replaceFile(files, path, plan.after, dress, check);
      state.note(path, undefined);
      const isExact = plan.isExact === true;
      // The last state of what others have edited since is kept, and no older one: they may hold secrets.
      const past = [hashOf(plan.after), ...(record === undefined ? [] : [record.original, record.after])];
      state.forget([...past.filter((hash) => hash !== hashOf(before)), ...(isExact ? [hashOf(before)] : [])]);
      return isExact ? undefined : backup;
    }
    state.keep(plan.original);
    const next = {
      file,
      after: hashOf(plan.after),
      original: hashOf(plan.original),
      entries: plan.records,
      setting: plan.setting,
    };
    state.note(path, next, script);
    try {
      replaceFile(files, path, plan.after, dress, check);
    } catch (error) {
      state.note(path, record);
      throw error;
    }
    return backup;
  });
}

/** Why a file is not to be written; undefined when it may be. */
export function whyNotWritable(world: World, path: string): string | undefined {
  const facts = world.files.facts(path);
  if (facts === undefined) return 'it is gone';
  if (!facts.isFile) return 'it is no regular file';
  if (world.uid !== undefined && facts.uid !== world.uid) return 'it belongs to another user';
  if ((facts.mode & 0o200) === 0) return 'it is read-only';
  if (facts.links > 1) return 'it has another name (a hard link), which would keep what was in it';
  if (world.platform === 'linux' && /^\/mnt\/[a-z]\//.test(path))
    return 'Windows programs read it too, which have other paths';
  return undefined;
}

/** Tells whether a file is, by the looks of it, in a repository. */
export function isInRepository({ files }: World, path: string): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    if (files.facts(join(folder, '.git')) !== undefined) return true;
    if (folder === dirname(folder)) return false;
  }
}

/** A lock that is held: a directory that its holder made. */
interface Lock {
  readonly path: string;
  /** From this age on its holder is taken for dead, in ms. */
  readonly staleMs: number;
}

/** Longest wait for a lock, in ms, and the time between two tries. */
const longestWaitMs = 10_000;
const retryMs = 100;

/** Another program holds a lock for longer than is waited. */
export class LockedError extends Error {
  override readonly name = 'LockedError';
}

/**
 * Does the work while all locks are held. The work is synchronous, so that they are held for milliseconds and no signal comes between.
 * @throws {@link LockedError} when one is not to be had within 10 s.
 */
async function withLocks<T>(world: World, locks: readonly Lock[], work: () => T): Promise<T> {
  const { files, signal, pause, now } = world;
  const until = now() + longestWaitMs;
  for (;;) {
    signal.throwIfAborted();
    const held: Lock[] = [];
    try {
      if (locks.every((lock) => take(files, lock, now()) && held.push(lock) > 0)) return work();
    } finally {
      for (const { path } of held.toReversed()) files.removeDirectory(path);
    }
    if (now() >= until)
      throw new LockedError(`${locks[held.length]?.path ?? ''} is there: another program is writing the file`);
    await pause(retryMs);
  }
}

function take(files: Files, { path, staleMs }: Lock, now: number): boolean {
  if (files.makeDirectory(path)) return true;
  const modifiedMs = files.facts(path)?.modifiedMs;
  if (modifiedMs === undefined || now - modifiedMs < staleMs) return false;
  files.removeDirectory(path);
  return files.makeDirectory(path);
}
