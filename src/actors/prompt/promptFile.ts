import { mkdtempSync, rmdirSync, unlinkSync } from 'node:fs';
import { lstat, open, readdir, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  identify,
  judge,
  type Liveness,
  type ProcessIdentity,
  type ProcessWorld,
  seeWorld,
} from '../process/processIdentity.ts';
import type { Clock } from '../../policy/clock.ts';

/** Prefix of the name of every directory that holds a prompt. */
export const promptPrefix = 'unwedge-prompt-';
/** The only files of such a directory: the prompt, and whose it is. */
const promptFiles = ['prompt', 'owner'] as const;

const temporary = (): string => process.getBuiltinModule('node:os').tmpdir();

/** A prompt on disk, for as long as somebody reads it. */
export interface PromptFile {
  readonly path: string;
  /** Removes file and directory; more calls do nothing. Never rejects. */
  readonly remove: () => Promise<void>;
}

/**
 * Writes a prompt into a file that only this user can read (0600), in a directory of its own (0700). Should the process exit first,
 * it is removed then.
 * @param directory - where; the system's directory for temporary files when left out.
 * @throws an errno error when it cannot be written; nothing is left then.
 */
export async function writePromptFile(prompt: string, directory = temporary()): Promise<PromptFile> {
  // Made in one step and under a name that was free: nobody can have put a link in its place.
  const own = mkdtempSync(join(directory, promptPrefix));
  removeAtExit(own);
  const path = join(own, 'prompt');
  try {
    await writePrivately(join(own, 'owner'), JSON.stringify(await ownIdentity()));
    await writePrivately(path, prompt);
  } catch (error) {
    await removePromptDirectory(own);
    throw error;
  }
  return { path, remove: () => removePromptDirectory(own) };
}

async function writePrivately(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

let identity: Promise<ProcessIdentity> | undefined;

function ownIdentity(): Promise<ProcessIdentity> {
  identity ??= seeWorld().then((world) => identify(world, process.pid));
  return identity;
}

const live = new Set<string>();

/**
 * Only at exit, not on signals: a library that listens to SIGTERM changes what the signal does to its host. What a signal ends is
 * swept by a later process.
 */
function removeAtExit(directory: string): void {
  if (live.size === 0) process.on('exit', removePromptFilesNow);
  live.add(directory);
}

/** Removes every prompt file of this process, at once and blocking, before the process ends. Never throws. */
export function removePromptFilesNow(): void {
  for (const directory of live) {
    for (const file of promptFiles) attempt(() => unlinkSync(join(directory, file)));
    attempt(() => rmdirSync(directory));
    forget(directory);
  }
}

/** Removes what {@link writePromptFile} made, and nothing else that somebody may have put there. Never rejects. */
export async function removePromptDirectory(directory: string): Promise<void> {
  for (const file of promptFiles) await unlink(join(directory, file)).catch(() => undefined);
  await rmdir(directory).catch(() => undefined);
  forget(directory);
}

function forget(directory: string): void {
  if (live.delete(directory) && live.size === 0) process.off('exit', removePromptFilesNow);
}

function attempt(remove: () => void): void {
  try {
    remove();
  } catch {
    // Gone already, or not ours to remove; there is nobody left to tell.
  }
}

const hourMs = 3_600_000;
/** A prompt whose owner cannot be judged is kept this long: no run lasts so long. */
const dayMs = 24 * hourMs;

/**
 * Removes prompt files that were left behind, now and every hour: those older than an hour whose owner is gone. The timer does not
 * keep the process alive.
 * @param directory - where they are looked for.
 * @returns how to stop.
 */
export function sweepPrompts(clock: Clock, directory = temporary()): () => void {
  let timer: ReturnType<Clock['setTimeout']> | undefined;
  const sweep = (): void => {
    timer = clock.setTimeout(sweep, hourMs);
    void removeLeftPrompts(clock.wallNow(), directory);
  };
  sweep();
  return () => clock.clearTimeout(timer);
}

/**
 * Does one round of {@link sweepPrompts}. Never rejects.
 * @param wallNow - wall time in ms.
 * @returns how many were removed.
 */
export async function removeLeftPrompts(wallNow: number, directory = temporary()): Promise<number> {
  const names = await readdir(directory).catch(() => []);
  const found = names.filter((name) => name.startsWith(promptPrefix)).map((name) => join(directory, name));
  const aged = await Promise.all(found.map(async (path) => ({ path, ageMs: wallNow - (await madeAt(path)) })));
  const old = aged.filter(({ ageMs }) => ageMs > hourMs);
  if (old.length === 0) return 0;
  const world = await seeWorld();
  let removed = 0;
  for (const { path, ageMs } of old) {
    const owner = await ownerState(path, world);
    if (owner === 'alive' || (owner === 'unknown' && ageMs <= dayMs)) continue;
    await removePromptDirectory(path);
    removed++;
  }
  return removed;
}

/** Returns the time a directory of ours was made; for no directory, or somebody else's, there is none. */
async function madeAt(path: string): Promise<number> {
  const stats = await lstat(path).catch(() => undefined);
  const isOurs = stats?.isDirectory() === true && (process.getuid === undefined || stats.uid === process.getuid());
  return isOurs ? stats.mtimeMs : Number.POSITIVE_INFINITY;
}

/** Without a readable owner it was left in the middle of being made. */
async function ownerState(path: string, world: ProcessWorld): Promise<Liveness> {
  const text = await readShort(join(path, 'owner'));
  try {
    const owner = JSON.parse(text) as { readonly pid?: unknown; readonly start?: unknown };
    if (typeof owner.pid !== 'number' || typeof owner.start !== 'string') return 'dead';
    return judge(world, { pid: owner.pid, start: owner.start });
  } catch {
    return 'dead';
  }
}

async function readShort(path: string): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined);
  try {
    const { buffer, bytesRead } = (await file?.read(Buffer.alloc(1024), 0, 1024, 0)) ?? {
      buffer: Buffer.alloc(0),
      bytesRead: 0,
    };
    return buffer.toString('utf8', 0, bytesRead);
  } catch {
    return '';
  } finally {
    await file?.close().catch(() => undefined);
  }
}
