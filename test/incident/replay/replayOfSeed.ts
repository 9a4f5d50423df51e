import { replay } from '../../../incident/replay/replay.ts';
import { seededRandom } from '../../../testing/random.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { readBack } from './gathered.ts';
import { randomScenario } from './scenario.ts';

/** The replay of a random scenario: its first difference, how many calls it has, and those of which the caller saw something else. */
export async function replayOfSeed(seed: number) {
  const { incident, ends } = await randomScenario(seed);
  const { first, lines } = await replay(readBack(incident), { clock: new SimulatedClock(), random: seededRandom(1) });
  const calls = lines.filter(({ of }) => of.startsWith('kb-'));
  const unlikeSeen = calls.filter(({ of, replayed }) => {
    const seen = ends.get(of);
    const told = seen === undefined ? 'under way' : seen.kind === 'ok' ? '' : `${seen.kind}, ${seen.attempts} attempt`;
    return replayed?.what.includes(told) !== true;
  });
  return { first, unlikeSeen, calls: calls.length };
}
