import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../../../dist/testing/index.js';
import { kinds } from './kinds.mjs';
import { goneWithin, Ran, signal } from './ran.mjs';
import { RemoteServer } from './remoteServer.mjs';

/** After a kill children have 2 s (S-8); the rest is for a machine on which nothing runs in time. */
export const leftMs = { promised: 2000, slack: 6000 };
const endMs = 40_000;

/**
 * Plays one life of a program, from its start to what is left of it.
 * @param {object} about
 * @param about.name - of the program
 * @param about.number - of the round, from which with the seed all its chances come
 * @param about.harm - `name`; `ready`, just before its start; `befall`, at a drawn moment; `ends`, where it need not answer what is open any more; `before`, `uid` and `flags` (of its server's
 * Node) of its start; `may`, exit codes beside those of the program
 * @param about.kept - messages that it has accepted and that have no end yet
 */
export async function playRound({ name, number, seed, harm, directory, kept }) {
  const kind = kinds[name];
  const random = seededRandom(seed * 100_003 + number);
  const below = (count) => Math.floor(random() * count);
  const afterMs = below(2500);
  const mark = `CHAOS_MARK=${process.pid}-${seed}-${number}`;
  const env = {
    PATH: process.env.PATH,
    HOME: directory,
    TMPDIR: directory,
    XDG_RUNTIME_DIR: directory,
    CHAOS_MARK: mark.slice(11),
  };
  const remote = kind.isRemote ? await RemoteServer.start() : undefined;
  const { before, uid, flags = [] } = harm.start?.({ directory, below }) ?? {};
  const node = [process.execPath, ...flags];
  const scope = {
    directory,
    kept,
    below,
    remote,
    mark,
    node,
    eats: flags.length > 0,
    serverIs: kind.serverIs,
    over: () => ran.isOver,
  };
  const words = kind.words(scope);
  harm.ready?.(scope);
  const ran = new Ran({ words, env, before, uid });
  scope.announced = kind.announces?.(ran);
  const violations = [];
  const asked = kind.work(ran, scope);
  const owed = Array.isArray(asked) ? asked : asked.owed;
  const harmed = wait(afterMs).then(() => (ran.isOver ? undefined : harm.befall?.(ran, scope)));
  const answers = await Promise.all(owed);
  await harmed;
  if (!ran.isOver) kind.ends(ran);
  // A program that nobody has stopped ends by itself.
  if (!(await ran.endedWithin(endMs))) {
    violations.push(`it had not ended ${endMs / 1000} s later`);
    ran.signal('SIGKILL');
  }
  await ran.exited;
  const { left, tookMs } = await goneWithin(mark, leftMs.promised + leftMs.slack);
  for (const { pid, words } of left) {
    violations.push(`left behind: ${words.join(' ').slice(0, 200)}`);
    signal(pid, 'SIGKILL');
  }
  const strays = Array.isArray(asked) ? [] : await asked.strays();
  const isExcused = ({ over, refused }) => over === true || (refused === true && harm.ends === true);
  const excused = answers.filter(isExcused).length;
  for (const { what, problem, ...each } of [...answers, ...strays])
    if (!isExcused(each) && problem !== undefined) violations.push(`${what}: ${problem}`);
  if (excused > 0 && harm.ends !== true && harm.told?.(ran) !== true)
    violations.push(`it ended with ${excused} requests open: ${ran.stderr.slice(-300)}`);
  violations.push(...wrongEnd(kind, harm, ran), ...(kind.judge?.(ran) ?? []), ...(await wrongStore(directory)));
  if (/\n\s+at .+(:\d+:\d+\)?|node:internal.*)\n/.test(ran.stderr))
    violations.push(`a stack: ${ran.stderr.slice(-600)}`);
  remote?.kill();
  return {
    what: `${name}, ${harm.name}`,
    requests: answers.length,
    answered: answers.filter((each) => !isExcused(each) && each.problem === undefined).length,
    excused,
    tookMs,
    violations: violations.map((each) => `${number} ${name}, ${harm.name} after ${afterMs} ms: ${each}`),
  };
}

/** By a signal it ends as shells show it: 128 and the number of the signal. */
function wrongEnd({ exits }, harm, ran) {
  const { end, stderr } = ran;
  const code = end.code ?? { SIGABRT: 134, SIGKILL: 137, SIGTERM: 143 }[end.signal] ?? end.signal;
  // It may have ended by itself before the moment.
  const may = [...exits.usual, ...(exits[harm.name] ?? []), ...(harm.may ?? [])];
  return may.includes(code) || harm.told?.(ran) === true
    ? []
    : [`it ended with ${code}, not ${may.join(' or ')}: ${stderr.slice(-300)}`];
}

async function wrongStore(directory) {
  const path = join(directory, 'kept.sqlite');
  if (!existsSync(path)) return [];
  const { default: Database } = await import('better-sqlite3');
  const database = new Database(path);
  try {
    const found = database.pragma('integrity_check', { simple: true });
    return found === 'ok' ? [] : [`the database: ${found}`];
  } catch (error) {
    return [`the database: ${error.message}`];
  } finally {
    database.close();
  }
}
