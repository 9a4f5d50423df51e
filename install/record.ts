import type { ConfigFile } from './configFile.ts';
import type { EntryKind } from './entry.ts';

/** An entry of a file that was wrapped, as it was before. */
export interface EntryRecord {
  readonly kind: EntryKind;
  readonly path: readonly (string | number)[];
  readonly commandKey: string;
  readonly command: string;
  /** The command as it was written. */
  readonly raw: string;
  /** True where it had a list of arguments. */
  readonly hadArgs: boolean;
}

/** A number that was written into a file. */
export interface SettingRecord {
  readonly key: string;
  readonly value: number;
  /** The number of before, as it was written; undefined: there was none. */
  readonly raw?: string | undefined;
}

/** A file that was changed. Hashes are SHA-256 in hexadecimal. */
export interface FileRecord {
  /** Description of it, so that it is found again from everywhere. */
  readonly file: ConfigFile;
  /** Hash of what was written. */
  readonly after: string;
  /** Hash of the file without anything of ours; a backup has this name. */
  readonly original: string;
  readonly entries: readonly EntryRecord[];
  readonly setting?: SettingRecord | undefined;
}

/** Record that `install` keeps about all files of a user. */
export interface InstallRecord {
  readonly version: 1;
  /** By their path without symbolic links. */
  readonly files: Readonly<Record<string, FileRecord>>;
  /** Paths of this program that were written into files. */
  readonly scripts: readonly string[];
}
