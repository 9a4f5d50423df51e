import { type Stats, statSync } from 'node:fs';
import { readString } from '../../src/policy/failures/face.ts';

/** `fail`: something is broken. `warning`: it works, and should be seen to. `unknown`: it could not be looked at. */
export type FindingStatus = 'ok' | 'warning' | 'fail' | 'unknown';

/** Single finding of a check. */
export interface Finding {
  /** Id of the check, such as `store.damaged`; the same in every version. */
  readonly id: string;
  readonly status: FindingStatus;
  /** Summary in one sentence without a full stop. */
  readonly summary: string;
  /** A command that mends it, to be pasted into a shell. */
  readonly fix?: string | undefined;
  /** Command to look further, if no command mends it. */
  readonly next?: string | undefined;
}

const of =
  (status: FindingStatus) =>
  (id: string, summary: string, fix?: string): Finding => ({ id, status, summary, fix });

export const ok = of('ok');
export const warning = of('warning');
export const fail = of('fail');

/** The subjects, in the order in which they are told. */
export const subjects = ['live', 'installation', 'database', 'processes', 'configuration', 'agents', 'system'] as const;

export type Subject = (typeof subjects)[number];

/** A finding and what it is about. */
export type ToldFinding = Finding & { readonly subject: Subject };

/** Looks at one subject. Changes nothing. */
export type Check = (world: DoctorWorld) => Promise<readonly Finding[]>;

/** World that checks look at. */
export interface DoctorWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Home of the user. */
  readonly home: string;
  readonly cwd: string;
  /** For temporary files. */
  readonly tmp: string;
  /** Undefined where there are no Unix users. */
  readonly uid: number | undefined;
  /** Version of Node, without the `v`. */
  readonly nodeVersion: string;
  /** Path of the program that runs. */
  readonly program: string;
  /** Most files open and processes running at a time; undefined where the system sets no limit or does not say. */
  readonly limits: { readonly openFiles: number | undefined; readonly processes: number | undefined };
  /** Wall time in ms since the epoch. */
  readonly now: number;
  /** As `--db` has it. */
  readonly db: string | undefined;
  /** As `--config` has it. */
  readonly config: string | undefined;
  /** Starts configured programs. */
  readonly probe: boolean;
  /** Looks also at parts that take long on a large database. */
  readonly thorough: boolean;
  readonly signal: AbortSignal;
  /** Throws where this user may not do that with the path, as `accessSync` of Node does. */
  readonly access: (path: string, mode: number) => void;
}

/** Returns the target of a path; undefined when there is nothing. @throws what the file system reports otherwise, such as that it may not be looked at. */
export function lookAt(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    const code = readString(error, 'code');
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
