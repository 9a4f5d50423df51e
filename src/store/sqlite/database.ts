export type SqlValue = string | number | bigint | null;
export type SqlRow = Record<string, unknown>;

/** SQLite connection as we use it, the same over every driver. Everything is synchronous and throws what SQLite reports. */
export interface Database {
  exec(sql: string): void;
  /** The statement for this text, prepared once. */
  prepare(sql: string): Statement;
  /** Runs `work` between BEGIN IMMEDIATE and COMMIT; rolled back when it throws. */
  immediate<T>(work: () => T): T;
  close(): void;
}

export interface Statement {
  /** @returns the number of rows it changed. */
  run(...values: readonly SqlValue[]): number;
  all(...values: readonly SqlValue[]): SqlRow[];
  get(...values: readonly SqlValue[]): SqlRow | undefined;
}

export interface OpenOptions {
  readonly readOnly?: boolean | undefined;
  /** Time that a statement blocks on another writer's lock before it fails with SQLITE_BUSY, in ms. */
  readonly busyTimeoutMs: number;
}

export interface Driver {
  readonly kind: 'better-sqlite3' | 'node:sqlite';
  /** @throws when the file cannot be opened. A missing file is created unless `readOnly`. */
  open(path: string, options: OpenOptions): Database;
}

/** Finds a driver and proves that it works. @throws an Error whose message says what is missing. */
export type DriverLoader = () => Promise<Driver>;
