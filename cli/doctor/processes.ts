import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ProcessWorld, judge, seeWorld } from '../../src/actors/process/face.ts';
import { examineSockets } from '../../operator/examineSockets.ts';
import { readStatusAnswer } from '../../src/control/face.ts';
import { askRuntimes, remedyOf } from '../../operator/askRuntimes.ts';
import { withUnlisted } from '../../operator/unlisted.ts';
import type { ChildRecord } from '../../src/policy/records/face.ts';
import { dbWords, isPostgresUrl, shellWord } from '../../src/policy/text/face.ts';
import { type RuntimeRow, judgeRuntimes, storePlace } from '../../src/store/face.ts';
import { isOfClient } from '../../operator/needs.ts';
import { elsewhereText, runtimeText, stoppingText } from '../liveRuntimes.ts';
import { examineDatabase, namesBeside } from './database.ts';
import { type Check, type DoctorWorld, type Finding, lookAt, fail, ok, warning } from './finding.ts';

const hourMs = 60 * 60_000;

/** Gateways and proxies that run, and what dead ones left behind. */
export const checkProcesses: Check = async (world) => {
  const path = storePlace(world.db, world.env);
  const seen = await seeWorld();
  const isUrl = isPostgresUrl(path);
  const hasFile = !isUrl && path !== ':memory:' && lookAt(path)?.isFile() === true;
  const examined = hasFile ? await examineDatabase(path, world) : undefined;
  const found: Finding[] = [];
  if (isUrl)
    found.push(...(await runtimeFindings(await (await import('./postgres.ts')).runtimesIn(path), seen, world)));
  if (examined?.state === 'readable') {
    found.push(...(await runtimeFindings(await withUnlisted(examined.runtimes, path, world.now), seen, world)));
    found.push(...orphanFindings(examined.children, seen));
    found.push(...staleFindings(path, examined.runtimes, seen, world));
  }
  found.push(...(await socketFindings(world)), ...temporaryFindings(seen, world), ...lockFindings(world));
  const isQuiet = found.every(({ status }) => status === 'ok');
  return isQuiet ? [...found, ok('left', 'no orphans, dead sockets or stale files')] : found;
};

async function runtimeFindings(
  rows: readonly RuntimeRow[],
  seen: ProcessWorld,
  { now, db }: DoctorWorld,
): Promise<readonly Finding[]> {
  const live = judgeRuntimes(rows, seen, now).filter(({ liveness }) => liveness !== 'dead');
  const asked = await askRuntimes(live, { now: () => now }, 'status', readStatusAnswer);
  const degraded = asked.flatMap(({ runtime, answer }): readonly Finding[] => {
    if (answer?.store === undefined) return [];
    const { reason, waiting, fix } = answer.store;
    const summary = `${runtimeText(runtime, now)} cannot write its store: ${reason}; ${waiting} rows wait in its memory (${fix}; do not restart it before)`;
    return [fail('runtime.degraded', summary)];
  });
  const findings = asked.map((each): Finding => {
    const { runtime, answer, problem, frozen } = each;
    const name = runtimeText(runtime, now);
    if (each.elsewhere !== undefined) return ok('runtime.elsewhere', elsewhereText(each, now));
    if (problem === undefined)
      return {
        id: 'runtime',
        status: answer?.stopping === undefined ? 'ok' : 'warning',
        summary: `${name}${stoppingText(answer?.stopping) || ' runs and answers'}`,
      };
    if (runtime.socket === undefined) return ok('runtime', `${name} runs without a control socket`);
    const summary = `${name} runs and does not answer: ${problem}`;
    // It may be busy: to end it is the second step, which the summary says. Looked at first, as `status` has it.
    if (frozen === 'silent')
      return { id: 'runtime.silent', status: 'fail', summary, next: `unwedge status --watch${dbWords(db)}` };
    const fix = frozen === undefined ? `kill ${runtime.pid}` : remedyOf(frozen, runtime.pid);
    return fail('runtime.silent', summary, fix);
  });
  return [...findings, ...degraded];
}

function orphanFindings(children: readonly ChildRecord[], seen: ProcessWorld): readonly Finding[] {
  return children
    .filter(({ ownerPid, ownerStart }) => judge(seen, { pid: ownerPid, start: ownerStart }) === 'dead')
    .filter((child) => judge(seen, child) === 'alive')
    .map(({ pid, command, ownerPid }) => {
      const summary = `process ${pid} (${command}) runs on, though the gateway that started it (pid ${ownerPid}) is dead`;
      return fail('orphan', summary, `kill ${pid}`);
    });
}

/** Rows and files of dead runs. */
function staleFindings(
  path: string,
  rows: readonly RuntimeRow[],
  seen: ProcessWorld,
  { now }: DoctorWorld,
): readonly Finding[] {
  const findings: Finding[] = [];
  const judged = judgeRuntimes(rows, seen, now);
  const dead = judged.filter(({ liveness }) => liveness === 'dead');
  if (dead.length > 0) {
    const successors = new Set(judged.filter(({ liveness }) => liveness !== 'dead').map(({ name }) => name));
    // A runtime that its client or the next run ends with it, or its successor has taken up, needs nobody.
    const awaited = dead.filter(({ name }) => !isOfClient(name) && !successors.has(name));
    const told = (runs: readonly RuntimeRow[]): string =>
      `gone without a word: ${runs.map((run) => runtimeText(run, now)).join(', ')}`;
    const others = dead.filter((run) => !awaited.includes(run));
    if (others.length > 0) findings.push(ok('runtime.gone', `${told(others)}; nothing of it waits`));
    if (awaited.length > 0)
      findings.push({
        id: 'runtime.gone',
        status: 'warning',
        summary: `${told(awaited)}; what it accepted and did not end waits for the next start`,
        next: 'start it again: it takes up what is left',
      });
  }
  const marks = namesBeside(path).filter((name) => isStaleMark(name, rows, seen)).length;
  if (marks > 0) {
    const summary = `${marks} ${marks === 1 ? 'file' : 'files'} of processes that are gone beside the database; the next run takes them away`;
    findings.push(warning('stale', summary, `unwedge run --db ${shellWord(path)} -- true`));
  }
  return findings;
}

function isStaleMark(name: string, rows: readonly RuntimeRow[], seen: ProcessWorld): boolean {
  const [, pid] = /-children-(\d+)\.\d+$/.exec(name) ?? [];
  if (pid !== undefined) return !seen.entries.some((entry) => entry.pid === Number(pid));
  const [, id] = /-left-([\w-]+)$/.exec(name) ?? [];
  return id !== undefined && !rows.some((row) => row.id === id);
}

async function socketFindings({ env, tmp, uid }: DoctorWorld): Promise<readonly Finding[]> {
  const directories = await examineSockets({ env, tmp, uid });
  return directories.flatMap((directory): Finding[] => {
    if (directory.problem !== undefined) {
      const summary = `${directory.path}, for control sockets, ${directory.problem}: running gateways cannot be reached`;
      return [fail('socket.directory', summary, directory.fix)];
    }
    const { deserted } = directory;
    if (deserted.length === 0) return [];
    const summary = `${deserted.length} control ${deserted.length === 1 ? 'socket' : 'sockets'} in ${directory.path} on which nobody listens`;
    return [warning('socket.stale', summary, `rm ${deserted.map(shellWord).join(' ')}`)];
  });
}

/** Directories that runs make for themselves and take away at their end. */
const temporaryName = /^unwedge-(?:prompt|output|demo)-/;

function temporaryFindings(seen: ProcessWorld, { tmp, uid, now }: DoctorWorld): readonly Finding[] {
  const left = entriesOf(tmp)
    .filter((name) => temporaryName.test(name))
    .map((name) => join(tmp, name))
    .filter((path) => {
      const stat = lookAt(path);
      const isOld = stat?.isDirectory() === true && now - stat.mtimeMs > hourMs;
      return isOld && (uid === undefined || stat.uid === uid) && !hasOwner(path, seen);
    });
  if (left.length === 0) return [];
  const summary = `${left.length} temporary ${left.length === 1 ? 'directory' : 'directories'} of runs that are over`;
  return [warning('temporary', summary, `rm -r ${left.map(shellWord).join(' ')}`)];
}

function hasOwner(path: string, seen: ProcessWorld): boolean {
  try {
    const { pid, start } = JSON.parse(readFileSync(join(path, 'owner'), 'utf8')) as Record<string, unknown>;
    return typeof pid === 'number' && typeof start === 'string' && judge(seen, { pid, start }) !== 'dead';
  } catch {
    return false;
  }
}

/** Older than this, a lock is nobody's: Claude Code itself takes it over. */
const lockMs = 60_000;

function lockFindings({ env, home, now }: DoctorWorld): readonly Finding[] {
  const lock = join(env['CLAUDE_CONFIG_DIR'] || home, '.claude.json.lock');
  const stat = lookAt(lock);
  if (stat?.isDirectory() !== true || now - stat.mtimeMs < lockMs) return [];
  const summary = `${lock} was left behind: what writes the configuration of Claude Code waits for it`;
  return [warning('lock', summary, `rmdir ${shellWord(lock)}`)];
}

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
