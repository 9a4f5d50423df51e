import { createHash, randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeDirectory } from '../../../process/makeDirectory.ts';
import type { Clock } from '../../../../policy/clock.ts';
import { type lockBusy, withFileLock } from './fileLock.ts';
import { emptyRecord, readRecord, type SignInRecord } from './signInRecord.ts';

/** The file of one sign-in, which its owner alone may read. Several processes share it. */
export class SignInFile {
  /** The address of the server, as requests name it. */
  readonly server: string;
  readonly #path: string;
  readonly #clock: Clock;
  /** What was read last, and of which file: each write makes another. */
  #last: { readonly file: string; readonly record: SignInRecord } | undefined = undefined;

  /** @param directory - of all sign-ins; made when it is needed. @param client - where several of one server stand beside each other. */
  constructor(directory: string, url: string, clock: Clock, client = '') {
    this.server = serverOf(url);
    this.#clock = clock;
    const key = createHash('sha256').update(`${this.server}\n${client}`).digest('hex').slice(0, 32);
    this.#path = join(directory, `${new URL(url).hostname.replaceAll(/[^\w.-]/g, '_')}-${key}.json`);
  }

  /** Reads what is kept; nothing where there is no file, or one that is not ours. Never throws. */
  read(): SignInRecord {
    try {
      const { ino, mtimeMs, ctimeMs, size } = statSync(this.#path, { throwIfNoEntry: false }) ?? {};
      const file = [ino, mtimeMs, ctimeMs, size].join(' ');
      if (this.#last?.file === file) return this.#last.record;
      const read = ino === undefined ? undefined : readRecord(readFileSync(this.#path, 'utf8'), this.server);
      this.#last = { file, record: read ?? emptyRecord(this.server) };
      return this.#last.record;
    } catch {
      return emptyRecord(this.server);
    }
  }

  /** Takes the place of what is kept, as a whole or not at all. @throws what the file system says against it. */
  write(record: SignInRecord): void {
    makeDirectory(dirname(this.#path));
    const fresh = `${this.#path}.${randomUUID()}`;
    try {
      const file = openSync(fresh, 'wx', 0o600);
      try {
        writeSync(file, JSON.stringify(record));
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(fresh, this.#path);
    } catch (error) {
      rmSync(fresh, { force: true });
      throw error;
    }
  }

  /** Does the work while no other process does any with this file. */
  locked<T>(waitMs: number, work: () => Promise<T>): Promise<T | typeof lockBusy> {
    makeDirectory(dirname(this.#path));
    return withFileLock(`${this.#path}.lock`, this.#clock, waitMs, work);
  }
}

/** The address without what is no part of the server's name. */
function serverOf(url: string): string {
  const address = new URL(url);
  address.hash = '';
  return address.href;
}
