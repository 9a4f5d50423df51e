import { messageOf } from '../src/policy/failures/face.ts';
import { StoreUnavailableError } from '../src/store/face.ts';

/** A row as it comes: a `bigint` is a text. */
export type PgRow = Readonly<Record<string, string | number | boolean | null>>;

/** A statement with its values. A named one is prepared once a connection. */
export interface PgQuery {
  readonly name?: string | undefined;
  readonly text: string;
  readonly values?: readonly unknown[] | undefined;
  /** Time that may be waited for its answer, in ms. @defaultValue that of its client */
  readonly query_timeout?: number | undefined;
}

/** Parts of a client of `pg` that are used. */
export interface PgClient {
  query(query: PgQuery): Promise<{ readonly rows: readonly PgRow[] }>;
  /** @param destroy - whether the connection is closed, as nobody knows what it is in. */
  release(destroy?: boolean): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** A connection that is in no pool. */
export interface PgLoneClient {
  /** Id of the process of the server that serves it, as a pooler may have made it up. */
  readonly processID: number | null;
  connect(): Promise<unknown>;
  query(query: PgQuery): Promise<{ readonly rows: readonly PgRow[] }>;
  end(): Promise<void>;
  /** It does not hold the process any more. */
  unref(): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'end', listener: () => void): unknown;
  on(event: 'notification', listener: (message: PgNotification) => void): unknown;
}

export interface PgNotification {
  /** Id of the process of the server that has sent it. */
  readonly processId: number;
  readonly payload?: string | undefined;
}

/** Parts of a pool of `pg` that are used. */
export interface PgPool {
  connect(): Promise<PgClient>;
  end(): Promise<void>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'connect', listener: (client: PgClient) => void): unknown;
}

/** Parts of the package that are used. */
export interface PgModule {
  readonly Pool: new (options: Readonly<Record<string, unknown>>) => PgPool;
  readonly Client: new (options: Readonly<Record<string, unknown>>) => PgLoneClient;
}

/** The optional package; its name in a variable, so that nothing looks for its types. */
const pgPackage: string = 'pg';

/** Loads `pg`. @param path - for people. @throws {@link StoreUnavailableError} that says what to install. */
export async function importPg(path: string, name = pgPackage): Promise<PgModule> {
  try {
    const found = (await import(name)) as { readonly default?: PgModule } & PgModule;
    return found.default ?? found;
  } catch (error) {
    const missing = (error as { readonly code?: unknown } | null)?.code === 'ERR_MODULE_NOT_FOUND';
    const reason = missing
      ? 'the package `pg` is not installed'
      : `the package \`pg\` cannot be loaded: ${messageOf(error)}`;
    throw new StoreUnavailableError(`${path}: ${reason}`, 'npm install pg', error, 'name a file as `store`');
  }
}
