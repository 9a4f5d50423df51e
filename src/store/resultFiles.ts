import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../actors/process/makeDirectory.ts';
import { goneOf, newWaiter } from './askers.ts';

/** Bounds on what is kept: age in ms, results, bytes of all; of more the oldest go. */
const [keptMs, mostFiles, mostBytes] = [24 * 3_600_000, 500, 1_000_000_000];

/** Large results of tools, in files that only their user reads. Each has an owner, a session or a connection: to another one its handle means nothing. */
export class ResultFiles {
  readonly #directory: string;
  readonly #now: () => number;

  /** @param directory - of this alone; made when the first is kept. @param now - wall time in ms. */
  constructor(directory: string, now: () => number) {
    this.#directory = directory;
    this.#now = now;
  }

  /** Keeps a result. @returns its handle, of 144 bits of chance. @throws what the file system says against it; nothing is left of it then. */
  keep(owner: string, whole: Uint8Array): string {
    makeDirectory(this.#directory);
    const handle = randomBytes(18).toString('base64url');
    const path = join(this.#directory, markOf(owner) + handle);
    try {
      fs.writeFileSync(path, whole, { mode: 0o600, flag: 'wx' });
      fs.utimesSync(path, this.#now() / 1000, this.#now() / 1000);
    } catch (error) {
      fs.rmSync(path, { force: true });
      throw error;
    }
    this.sweep();
    return handle;
  }

  /** Has what is kept of an owner end with this process, by a note of that beside it. Never rejects. */
  async endsWithProcess(owner: string): Promise<void> {
    const note = await newWaiter(false);
    // It may have left meanwhile.
    if (!this.#names().some((name) => name.startsWith(markOf(owner)))) return;
    quietly(() => fs.writeFileSync(join(this.#directory, markOf(owner) + noteName), note, { mode: 0o600 }));
  }

  /** Erases what is kept of owners whose process is gone. Never rejects. */
  async sweepGone(): Promise<void> {
    const notes = this.#names().filter((name) => name.endsWith(noteName));
    if (notes.length === 0) return;
    const said = notes.map((name) => quietly(() => fs.readFileSync(join(this.#directory, name), 'utf8')) ?? '');
    const gone = new Set(await goneOf(said));
    const marks = notes.flatMap((name, index) =>
      gone.has(said[index] ?? '') ? [name.slice(0, -noteName.length)] : [],
    );
    for (const name of this.#names()) if (marks.some((mark) => name.startsWith(mark))) this.#erase(name);
  }

  /** Reads a part of a result; undefined where the owner has none of that handle. */
  read(owner: string, handle: string, from: number, bytes: number) {
    if (!/^[\w-]{24}$/.test(handle)) return undefined;
    return quietly(() => {
      const file = fs.openSync(join(this.#directory, markOf(owner) + handle), 'r');
      try {
        const { size, mtimeMs } = fs.fstatSync(file);
        if (this.#now() - mtimeMs > keptMs) return undefined;
        const part = Buffer.alloc(Math.max(0, Math.min(bytes, size - from)));
        return { part: part.subarray(0, fs.readSync(file, part, 0, part.length, from)), size };
      } finally {
        fs.closeSync(file);
      }
    });
  }

  /** Erases all that is kept of an owner. */
  forget(owner: string): void {
    for (const name of this.#names()) if (name.startsWith(markOf(owner))) this.#erase(name);
    this.sweep();
  }

  /** Erases what is too old, and the oldest of what is too much. */
  sweep(): void {
    const files = this.#names().flatMap((name) => {
      if (name.endsWith(noteName)) return [];
      const stat = fs.statSync(join(this.#directory, name), { throwIfNoEntry: false });
      return stat === undefined ? [] : [{ name, size: stat.size, at: stat.mtimeMs }];
    });
    let bytes = 0;
    for (const [index, { name, size, at }] of files.toSorted((one, other) => other.at - one.at).entries()) {
      bytes += size;
      if (this.#now() - at > keptMs || index >= mostFiles || bytes > mostBytes) this.#erase(name);
    }
  }

  #names(): readonly string[] {
    return quietly(() => fs.readdirSync(this.#directory)) ?? [];
  }

  #erase(name: string): void {
    quietly(() => fs.rmSync(join(this.#directory, name), { force: true }));
  }
}

/** Ends the name of the note that says which process an owner ends with. */
const noteName = 'process';

/** Begins the names of the files of an owner. */
const markOf = (owner: string): string => `${createHash('sha256').update(owner).digest('hex').slice(0, 32)}-`;

function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    // It is gone, or was never there.
    return undefined;
  }
}
