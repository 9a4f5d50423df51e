import { join } from 'node:path';
import { type Files, isTemporary, replaceFile } from './files.ts';
import { hashOf } from './planFile.ts';
import type { FileRecord, InstallRecord } from './record.ts';

const emptyRecord: InstallRecord = { version: 1, files: {}, scripts: [] };

/** Store of installations: the record, and the contents of files by their hash. For its owner alone. */
export class InstallState {
  readonly #files: Files;
  readonly #directory: string;

  constructor(files: Files, directory: string) {
    this.#files = files;
    this.#directory = directory;
  }

  get directory(): string {
    return this.#directory;
  }

  /** Empty when there is none, or none that can be read: an undo does without it. */
  read(): InstallRecord {
    const text = this.#files.read(this.#recordPath)?.toString('utf8');
    try {
      const record = JSON.parse(text ?? 'null') as InstallRecord | null;
      return isRecord(record) ? record : emptyRecord;
    } catch {
      return emptyRecord;
    }
  }

  /** Notes what a file is about to become, or, without a `record`, that nothing in it is ours any longer. */
  note(path: string, record: FileRecord | undefined, script?: string): void {
    const { files, scripts, version } = this.read();
    const others = Object.fromEntries(Object.entries(files).filter(([other]) => other !== path));
    const next: InstallRecord = {
      version,
      files: record === undefined ? others : { ...others, [path]: record },
      scripts: script === undefined || scripts.includes(script) ? scripts : [...scripts, script],
    };
    this.#files.ensureDirectory(this.#directory);
    replaceFile(this.#files, this.#recordPath, Buffer.from(`${JSON.stringify(next, null, 2)}\n`), { mode: 0o600 });
  }

  /** Keeps a content and gives the path of it. */
  keep(bytes: Buffer): string {
    const folder = join(this.#directory, 'backups');
    const path = join(folder, hashOf(bytes));
    if (this.kept(hashOf(bytes)) !== undefined) return path;
    this.#files.ensureDirectory(folder);
    replaceFile(this.#files, path, bytes, { mode: 0o600 });
    return path;
  }

  /** A content by its hash; undefined when it is not there, or is damaged. */
  kept(hash: string): Buffer | undefined {
    const bytes = this.#files.read(join(this.#directory, 'backups', hash));
    return bytes !== undefined && hashOf(bytes) === hash ? bytes : undefined;
  }

  /** Removes contents, but for those that a record needs, and what killed runs left half-written: they may hold secrets. Called under the lock. */
  forget(hashes: readonly string[]): void {
    const folder = join(this.#directory, 'backups');
    const needed = new Set(Object.values(this.read().files).map(({ original }) => original));
    for (const hash of hashes) if (!needed.has(hash)) this.#files.remove(join(folder, hash));
    for (const name of this.#files.list(folder)) if (isTemporary(name)) this.#files.remove(join(folder, name));
  }

  get #recordPath(): string {
    return join(this.#directory, 'install.json');
  }
}

function isRecord(value: InstallRecord | null): value is InstallRecord {
  if (typeof value !== 'object' || value === null || value.version !== 1) return false;
  const { files, scripts } = value as Partial<InstallRecord>;
  return (
    Array.isArray(scripts) &&
    typeof files === 'object' &&
    Object.values(files).every(({ file, after, original, entries }: Partial<FileRecord>) => {
      return (
        typeof file === 'object' && typeof after === 'string' && typeof original === 'string' && Array.isArray(entries)
      );
    })
  );
}
