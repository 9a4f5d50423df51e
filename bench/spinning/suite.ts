import { defineSuite, type Target } from '../harness/suite.ts';
import { byHand, calls, held, ours } from './cases.ts';

const small = '1 kB, another call each time';
const large = '100 kB, another call each time';

/** Cost of looking for repetition. */
export const spinningSuite = defineSuite({
  name: 'spinning',
  about:
    'A call with its answer, judged by what a session has done before, in turn with the least one can write by hand: the JSON of arguments and answer among the last sixty. By hand ' +
    'sees no repetition whose times differ, and holds all texts.',
  baseline: 'by hand',
  subjects: [
    { name: 'unwedge', about: 'fingerprints of sixty calls', cases: casesOf(ours) },
    { name: 'by hand', about: 'JSON.stringify() and a list', cases: casesOf(byHand) },
  ],
  targets: [
    atMost('CPU time of a call with arguments of 1 kB, in µs', small, 'call cpu', 2),
    atMost('CPU time of a call with arguments of 100 kB, in µs', large, 'call cpu', 150),
    atMost('kB that a session holds', 'memory', 'memory', 16),
  ],
});

function casesOf(make: typeof ours) {
  return {
    [small]: calls(make, 1_000, 2_000),
    '1 kB, another failure each time': calls(make, 1_000, 2_000, '!ENOENT: no such file'),
    '1 kB, the same call': calls(make, 1_000, 1),
    '1 kB, a cycle of five': calls(make, 1_000, 5),
    '1 kB, the same failure': calls(make, 1_000, 1, '!no such text'),
    [large]: calls(make, 100_000, 70),
    memory: held(make),
  };
}

function atMost(says: string, of: string, metric: string, limit: number): Target {
  return { says, of: { subject: 'unwedge', case: of, metric }, atMost: limit };
}
