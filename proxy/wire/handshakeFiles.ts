import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeDirectory } from '../../src/actors/process/face.ts';
import { type RecordedHandshake, readRecordedHandshake } from './recordedHandshake.ts';

/** Version of the form of a file; one of another form is not read. */
const format = 1;
const secretBytes = 32;
/** A handshake with longer lists is not kept, in bytes. */
const mostBytes = 8 * 1024 * 1024;
/** Age at which a file that nobody has seen says nothing of today, in ms. */
const oldestMs = 30 * 24 * 3_600_000;
/** Kept at a time; of more the oldest go. */
const mostFiles = 500;

interface HandshakeFilesOptions {
  /** A folder of this alone; made, for its user only, when the first is kept. */
  readonly directory: string;
  /** Everything that decides which server it is, the values of its environment included; it is kept as a keyed hash alone. */
  readonly identity: unknown;
  /** Finds a secret in a text, which is not kept then. */
  readonly holdsSecret: (text: string) => boolean;
  /** Wall time, in ms. */
  readonly now: () => number;
}

/**
 * Handshakes of servers in files that only their user reads, one for each server and client. Several processes may write at once: each file
 * is put in its place whole. What cannot be read, was written by another user or for another folder, or is old, is none. Nothing here throws.
 */
export class HandshakeFiles {
  readonly #options: HandshakeFilesOptions;
  #secret: Buffer | undefined;

  constructor(options: HandshakeFilesOptions) {
    this.#options = options;
  }

  find(client: string): RecordedHandshake | undefined {
    return quietly(() => {
      const secret = this.#ownSecret(false);
      if (secret === undefined) return undefined;
      const path = this.#pathOf(secret, client);
      const { format: its, at, mac, text } = JSON.parse(readOwn(path)) as Record<string, unknown>;
      if (its !== format || typeof at !== 'number' || typeof text !== 'string' || typeof mac !== 'string')
        return undefined;
      if (Math.abs(this.#options.now() - at) > oldestMs || !isEqual(mac, macOf(secret, path, at, text)))
        return undefined;
      return readRecordedHandshake(JSON.parse(text));
    });
  }

  keep(client: string, recorded: RecordedHandshake): void {
    quietly(() => {
      const text = JSON.stringify(recorded);
      if (text.length > mostBytes / 2 || this.#options.holdsSecret(text)) {
        this.drop(client);
        return;
      }
      const secret = this.#ownSecret(true);
      if (secret === undefined) return;
      const path = this.#pathOf(secret, client);
      const at = this.#options.now();
      replaceFile(path, JSON.stringify({ format, at, mac: macOf(secret, path, at, text), text }));
      this.#prune();
    });
  }

  drop(client: string): void {
    quietly(() => {
      const secret = this.#ownSecret(false);
      if (secret !== undefined) rmSync(this.#pathOf(secret, client), { force: true });
    });
  }

  #pathOf(secret: Buffer, client: string): string {
    const { directory, identity } = this.#options;
    return join(directory, `${hashOf(secret, JSON.stringify([identity, client]))}.json`);
  }

  /** Without it nobody can tell by trial what the environment of a server is. */
  #ownSecret(mayMake: boolean): Buffer | undefined {
    if (this.#secret !== undefined) return this.#secret;
    const path = join(this.#options.directory, 'key');
    let text = quietly(() => readOwn(path));
    if (text === undefined && mayMake) {
      makeDirectory(this.#options.directory);
      // Whoever is second takes the key of the first.
      quietly(() => writeFileSync(path, randomBytes(secretBytes).toString('hex'), { mode: 0o600, flag: 'wx' }));
      text = quietly(() => readOwn(path));
    }
    const secret = Buffer.from(text ?? '', 'hex');
    if (secret.length === secretBytes) this.#secret = secret;
    return this.#secret;
  }

  #prune(): void {
    const { directory, now } = this.#options;
    const files = readdirSync(directory)
      .filter((name) => name !== 'key')
      .map((name) => join(directory, name))
      .map((path) => ({ path, at: quietly(() => statSync(path).mtimeMs) ?? 0 }))
      .sort((one, other) => other.at - one.at);
    for (const [index, { path, at }] of files.entries())
      if (index >= mostFiles || now() - at > oldestMs) quietly(() => rmSync(path, { force: true }));
  }
}

/** The text of a file that is of this user and nobody else's. @throws where it is not, and where it cannot be read. */
function readOwn(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { mode, uid, size } = fstatSync(file);
    const isOwn = uid === process.getuid?.() && (mode & 0o077) === 0;
    if (!isOwn || size > mostBytes || (mode & constants.S_IFMT) !== constants.S_IFREG)
      throw new Error('It is not ours');
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}

function replaceFile(path: string, text: string): void {
  const fresh = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(fresh, text, { mode: 0o600, flag: 'wx' });
    renameSync(fresh, path);
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

const hashOf = (secret: Buffer, text: string): string => createHmac('sha256', secret).update(text).digest('hex');
const macOf = (secret: Buffer, path: string, at: number, text: string): string =>
  hashOf(secret, JSON.stringify([format, path, at, text]));

function isEqual(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    // It only makes a start faster.
    return undefined;
  }
}
