import { constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { examineStore, type StoreExamination } from '../../reader/examineStore.ts';
import { formatDuration, isPostgresUrl, shellWord } from '../../src/policy/text/face.ts';
import { type Contents, contentsOf, storePlace } from '../../src/store/face.ts';
import { type Check, type DoctorWorld, type Finding, lookAt, fail, ok, warning } from './finding.ts';

/** Up to here SQLite's own check takes a second or two, in bytes. */
const checkUpToBytes = 256 * 2 ** 20;
const largeBytes = 2 ** 30;
/** Less room than this is soon used up, in bytes. */
const leastRoom = 100 * 2 ** 20;
/** Clocks of a machine are set by less than this in everyday life. */
const clockStepMs = 60_000;

/** The file of the database: that it can be used, is whole, and has room. */
export const checkDatabase: Check = async (world) => {
  const path = storePlace(world.db, world.env);
  if (isPostgresUrl(path)) return (await import('./postgres.ts')).checkPostgres(path, world);
  if (path === ':memory:') return [ok('store', 'the database is in memory: nothing is kept')];
  const stat = lookAt(path);
  if (stat === undefined) return [absent(path, world)];
  if (stat.isDirectory()) {
    const fix = `export UNWEDGE_DB=${shellWord(join(path, 'unwedge.sqlite'))}`;
    return [fail('store.directory', `${path} is a directory, and no database`, fix)];
  }
  // First of all: what is not ours may be any file of the system, and is not to be moved, given away or closed.
  const contents = contentsOf(path);
  if (contents === 'other') return [fail('store.other', `${path} is no SQLite database; ${nameAnother}`)];
  const unusable = usability(path, stat.uid, contents, world);
  if (unusable !== undefined) return [unusable];
  const examined = await examineDatabase(path, world);
  const opened = openedFindings(path, stat.size, examined, world.now);
  const isOurs = examined.state === 'readable' && examined.version > 0;
  return [...opened, ...(isOurs ? fileFindings(path, stat.mode, world) : []), ...roomFindings(dirname(path))];
};

const nameAnother = 'name another with --db FILE or UNWEDGE_DB';

/** Tells whether somebody chose the place, who may have erred: nothing there is to be changed on our word. */
function isNamed({ db, env }: DoctorWorld): boolean {
  return db !== undefined || Boolean(env['UNWEDGE_DB']);
}

/** Examines the content of a database; made once for all checks of a world. */
export function examineDatabase(path: string, world: DoctorWorld): Promise<StoreExamination> {
  const made =
    examinations.get(world) ??
    examineStore(path, { checkUpToBytes: world.thorough ? Infinity : checkUpToBytes, now: world.now });
  examinations.set(world, made);
  return made;
}

const examinations = new WeakMap<DoctorWorld, Promise<StoreExamination>>();

function absent(path: string, world: DoctorWorld): Finding {
  let above = dirname(path);
  while (!existsSync(above) && dirname(above) !== above) above = dirname(above);
  const isDirectory = statSync(above).isDirectory();
  const refused = refusalOf(above, constants.W_OK | constants.X_OK, world);
  if (refused === readOnly) {
    return fail('store.unwritable', `no database can be made at ${path}: ${above} ${onReadOnly}; ${nameAnother}`);
  }
  if (!isDirectory || refused !== undefined) {
    const what = isDirectory ? 'is closed to this user' : 'is no directory';
    const summary = `no database can be made at ${path}: ${above} ${what}`;
    // Above a place that somebody named, or above the home of the user, is what belongs to the system.
    if (isNamed(world) || !isBelow(above, world.home)) return fail('store.unwritable', `${summary}; ${nameAnother}`);
    const fix = isDirectory ? permitting(above, world) : `mv ${shellWord(above)} ${shellWord(`${above}.aside`)}`;
    return fail('store.unwritable', summary, fix);
  }
  const how = `a gateway with \`store: '${path}'\`, \`unwedge mcp\` or \`unwedge run\` makes one`;
  if (!isNamed(world)) return ok('store', `no database at ${path} yet: ${how}`);
  return warning('store.absent', `no database at ${path}: ${how}`);
}

const isBelow = (path: string, directory: string): boolean => path === directory || path.startsWith(`${directory}/`);

function usability(path: string, owner: number, contents: Contents, world: DoctorWorld): Finding | undefined {
  const directory = dirname(path);
  for (const [where, what] of [
    [path, constants.R_OK | constants.W_OK],
    // Beside the file SQLite keeps its log.
    [directory, constants.W_OK | constants.X_OK],
  ] as const) {
    const refused = refusalOf(where, what, world);
    if (refused === undefined) continue;
    if (refused === readOnly) {
      return fail('store.unwritable', `${where} ${onReadOnly}: ${lost}; mount it for writing, or ${nameAnother}`);
    }
    const whose = owner === world.uid ? '' : ` (it belongs to user ${owner})`;
    const summary = `${where} cannot be written to by this user${whose}: ${lost}`;
    const isKnown = where === path ? contents === 'sqlite' || !isNamed(world) : isBelow(where, world.home);
    if (!isKnown) return fail('store.unwritable', `${summary}; ${nameAnother}`);
    return fail('store.unwritable', summary, permitting(where, world));
  }
  return undefined;
}

const lost = 'nothing is recorded, and no circuit is kept';

/** Whoever may do what there: no command about its owner or its mode helps. */
const readOnly = 'EROFS';
const onReadOnly = 'is on a file system that is mounted read-only';

function permitting(path: string, { uid }: DoctorWorld): string {
  const stat = statSync(path);
  const word = shellWord(path);
  if (stat.uid !== uid) return `sudo chown ${uid ?? '"$(id -u)"'} ${word}`;
  return stat.isDirectory() ? `chmod u+rwx ${word}` : `chmod u+rw ${word}`;
}

/** Why this user may not do that; undefined where it may. */
function refusalOf(path: string, what: number, world: DoctorWorld): string | undefined {
  try {
    world.access(path, what);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'refused';
  }
}

function openedFindings(path: string, size: number, examined: StoreExamination, now: number): readonly Finding[] {
  switch (examined.state) {
    case 'no driver':
      return [{ id: 'store', status: 'unknown', summary: `${path} cannot be looked at without a SQLite driver` }];
    case 'locked':
      return [
        warning(
          'store.locked',
          `${path} is held by another process: ${examined.reason}`,
          `fuser -v ${shellWord(path)}`,
        ),
      ];
    case 'unreadable':
      return [fail('store.unreadable', `${path} cannot be read: ${examined.reason}; ${nameAnother}`)];
    case 'damaged':
      return [
        {
          id: 'store.damaged',
          status: 'fail',
          summary: `${path} is damaged (${examined.reason}); once it is aside a new one is started, which does not deliver the accepted messages in it and in its log`,
          fix: settingAside(path),
          next: `sqlite3 ${shellWord(`${path}.broken`)} .recover, which prints what can still be read`,
        },
      ];
    case 'readable':
      return [...versionFindings(path, size, examined), ...lostLogFindings(examined), ...clockFindings(examined, now)];
  }
}

type Readable = Extract<StoreExamination, { state: 'readable' }>;

function versionFindings(
  path: string,
  size: number,
  { version, known, tooOld, foreign, checked }: Readable,
): readonly Finding[] {
  if (version > known) {
    const summary = `${path} was written by a newer unwedge (its schema is ${version}, this version knows ${known})`;
    return [fail('store.newer', summary, 'npm install --global unwedge@latest')];
  }
  if (tooOld) {
    const summary = `${path} was written by a build from before the first release (its schema is ${version}); no gateway can use it; move it away`;
    return [fail('store.older', summary, `mv ${shellWord(path)} ${shellWord(`${path}.old`)}`)];
  }
  if (foreign) {
    const summary = `${path} is a SQLite database of something else, without a table of unwedge: its gateway adds them at its start; if another file is meant, ${nameAnother}`;
    return [warning('store.foreign', summary)];
  }
  const state = version === known ? `schema ${version}` : `schema ${version}, brought to ${known} by the next gateway`;
  const isWhole = checked ? 'whole' : 'too large to be checked without --all';
  const findings: Finding[] = [ok('store', `${path}: ${state}, ${bytes(size)}, ${isWhole}`)];
  if (version > 0 && size > largeBytes) {
    const fix = `sqlite3 ${shellWord(path)} VACUUM`;
    findings.push(warning('store.large', `${path} has ${bytes(size)}: its retention may be too long`, fix));
  }
  return findings;
}

function lostLogFindings({ lostLog }: Readable): readonly Finding[] {
  if (lostLog === undefined) return [];
  return [{ id: 'store.log_lost', status: 'warning', summary: lostLog.reason, next: lostLog.fix }];
}

function clockFindings({ newestEventAt, steppedBackMs }: Readable, now: number): readonly Finding[] {
  const aheadMs = (newestEventAt ?? now) - now;
  const fix = 'sudo timedatectl set-ntp true';
  if (aheadMs > clockStepMs) {
    const summary = `the newest event is ${formatDuration(aheadMs)} in the future: the clock was set back, or that of another machine is wrong`;
    return [warning('clock.ahead', summary, fix)];
  }
  if (steppedBackMs <= clockStepMs) return [];
  return [warning('clock.back', `the clock went back by ${formatDuration(steppedBackMs)} between two events`, fix)];
}

/** Finds the files that lie beside it, and who may read it. */
function fileFindings(path: string, mode: number, { uid }: DoctorWorld): readonly Finding[] {
  const findings: Finding[] = [];
  if (uid !== undefined && (mode & 0o077) !== 0) {
    const summary = `${path} can be read by other users (mode ${(mode & 0o777).toString(8).padStart(4, '0')})`;
    findings.push(warning('store.open', summary, `chmod 600 ${shellWord(path)}`));
  }
  const aside = namesBeside(path).filter((name) => /\.damaged-\d+$/.test(name));
  if (aside.length > 0) {
    const words = aside.map((name) => shellWord(join(dirname(path), name)));
    const summary = `${aside.length} damaged ${aside.length === 1 ? 'database was' : 'databases were'} set aside, and ${aside.length === 1 ? 'is' : 'are'} still there: look first, what is not in the new one may be in ${aside.length === 1 ? 'it' : 'them'} alone`;
    findings.push(
      warning('store.aside', summary, `rm -f ${words.map((word) => `${word} ${word}-wal ${word}-shm`).join(' ')}`),
    );
  }
  const wal = lookAt(`${path}-wal`);
  if (wal !== undefined && wal.size > leastRoom) {
    const summary = `the log of the database has ${bytes(wal.size)}: a process has it open for reading and never ends that`;
    findings.push(warning('store.log', summary, `fuser -v ${shellWord(`${path}-wal`)}`));
  }
  return findings;
}

/** Names of files that begin as that of the database does. */
export function namesBeside(path: string): readonly string[] {
  try {
    return readdirSync(dirname(path)).filter((name) => name !== basename(path) && name.startsWith(basename(path)));
  } catch {
    return [];
  }
}

/** Kinds of file systems that other machines use too, by the numbers that Linux gives them: NFS, SMB, CIFS, SMB2, 9P. */
const sharedKinds: ReadonlySet<number> = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x01021997]);

function roomFindings(directory: string): readonly Finding[] {
  const { bsize, bavail, type } = statfsSync(directory);
  const findings: Finding[] = [];
  if (bsize * bavail < leastRoom) {
    const summary = `the disk of the database has ${bytes(bsize * bavail)} left`;
    findings.push(warning('store.room', summary, `du -xh ${shellWord(directory)} | sort -h | tail`));
  }
  if (process.platform === 'linux' && sharedKinds.has(type)) {
    const summary = 'the database is on a file system that other machines share, where its log cannot be relied on';
    findings.push(warning('store.shared', summary, 'export UNWEDGE_DB=/var/tmp/unwedge-"$(id -u)"/unwedge.sqlite'));
  }
  return findings;
}

function settingAside(path: string): string {
  const word = shellWord(path);
  // The newest commits are in the log alone, which SQLite looks for under the name of its file.
  const log = lookAt(`${path}-wal`) === undefined ? '' : ` && mv ${word}-wal ${word}.broken-wal`;
  return `mv ${word} ${word}.broken${log} && rm -f ${word}-shm`;
}

function bytes(count: number): string {
  if (count < 2 ** 20) return `${Math.ceil(count / 2 ** 10)} KB`;
  return count < 2 ** 30 ? `${Math.round(count / 2 ** 20)} MB` : `${(count / 2 ** 30).toFixed(1)} GB`;
}
