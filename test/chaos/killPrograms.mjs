import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../../dist/testing/index.js';
import { kinds } from './programs/kinds.mjs';
import { playLanes } from './programs/lanes.mjs';
import { marked, signal } from './programs/ran.mjs';

/** By name, what is done to a program; `ends`: it need not answer what is open any more. */
export const harms = {
  nothing: { befall: () => undefined },
  kill: { ends: true, befall: (ran) => ran.signal('SIGKILL') },
  term: { ends: true, befall: (ran) => ran.signal('SIGTERM') },
  stdin: { ends: true, befall: (ran) => ran.closeInput() },
  stdout: { ends: true, befall: (ran) => ran.closeOutput('stdout') },
  stderr: { befall: async (ran, { announced }) => (await announced, ran.closeOutput('stderr')) },
  stop: { befall: (ran, scope) => stopped([ran.pid], scope) },
  'kill server': { befall: (_, scope) => harmServer(scope, ([pid]) => signal(pid, 'SIGKILL')) },
  'stop server': { befall: (_, scope) => harmServer(scope, (pids) => stopped(pids, scope)) },
};
/**
 * Harms each of our programs, with the server behind it, `times` times in all, at drawn moments of its start and its work.
 * @returns {Promise<import('./killPrograms.d.mts').ProgramsReport>}
 */
export function killPrograms({ times, seed, only, harm: onlyHarm, progress }) {
  const names = Object.keys(kinds).filter((name) => only === undefined || only.includes(name));
  const harmOf = (name, number) => {
    const possible = Object.keys(harms).filter(
      (harm) => (onlyHarm === undefined ? harm !== 'nothing' : harm === onlyHarm) && applies(name, harm),
    );
    const drawn = possible[Math.floor(seededRandom(seed * 7919 + number)() * possible.length)] ?? 'nothing';
    return { name: drawn, ...harms[drawn], ...(drawn === 'kill' && { may: [137] }) };
  };
  return playLanes({ names, times, seed, harmOf, progress });
}

/** A closed stdin ends those that speak by it. */
const applies = (name, harm) => harm !== 'stdin' || kinds[name].exits.stdin !== undefined;

/** Stops processes for a moment. */
async function stopped(pids, { below }) {
  for (const pid of pids) signal(pid, 'SIGSTOP');
  await wait(100 + below(700));
  for (const pid of pids) signal(pid, 'SIGCONT');
}

/** Harms the server of the moment, as soon as there is one. */
async function harmServer(scope, harm) {
  if (scope.remote !== undefined) return scope.remote.harm(harm);
  const found = () =>
    marked(scope.mark).filter(
      ({ words }) => words.some((word) => word.endsWith(scope.serverIs)) && !words.includes('--db'),
    );
  const deadline = Date.now() + 20_000;
  let pids = [];
  while (pids.length === 0 && !scope.over() && Date.now() < deadline) {
    await wait(20);
    pids = found().map(({ pid }) => pid);
  }
  if (pids.length > 0) await harm(pids);
}
