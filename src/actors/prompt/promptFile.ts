import { mkdtempSync, rmdirSync, unlinkSync } from 'node:fs';
import { open, rmdir, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seeWorld } from '../process/processIdentity.ts';
import { identify, type ProcessIdentity } from '../process/processWorld.ts';

/** Prefix of the name of every directory that holds a prompt. */
export const promptPrefix = 'unwedge-prompt-';
/** The only files of such a directory: the prompt, and whose it is. */
const promptFiles = ['prompt', 'owner'] as const;

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
export async function writePromptFile(prompt: string, directory: string = tmpdir()): Promise<PromptFile> {
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
