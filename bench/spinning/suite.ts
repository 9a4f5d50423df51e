import { defineSuite, type Target } from '../harness/suite.ts';
import {
  byHand,
  calls,
  events,
  held,
  judgedByUs,
  manyObjects,
  ours,
  readByHand,
  requests,
  scannedByHand,
  scannedByUs,
} from './cases.ts';

const small = '1 kB, another call each time';
const large = '100 kB, another call each time';
const objects = '1,000 small objects, another call each time';
const request = 'a request of 100 kB that goes on';
const stream = 'an event of a stream of text';

/** Cost of looking for repetition. */
export const spinningSuite = defineSuite({
  name: 'spinning',
  about:
    'A call with its answer, judged by what a session has done before, in turn with the least one can write by hand: the JSON of arguments and answer among the last sixty. By hand ' +
    'sees no repetition whose times differ, and holds all texts; of requests and streams it is the JSON, read.',
  baseline: 'by hand',
  subjects: [
    { name: 'unwedge', about: 'fingerprints of sixty calls', cases: casesOf(ours, judgedByUs, scannedByUs) },
    { name: 'by hand', about: 'JSON.stringify() and a list', cases: casesOf(byHand, readByHand, scannedByHand) },
  ],
  targets: [
    atMost('CPU time of a call with arguments of 1 kB, in µs', small, 'call cpu', 2),
    atMost('CPU time of a call with arguments of 100 kB, in µs', large, 'call cpu', 150),
    atMost('CPU time of a call with 1,000 small objects, in µs', objects, 'call cpu', 250),
    atMost('CPU time of a request of 100 kB that goes on, in µs', request, 'call cpu', 150),
    atMost('CPU time of an event of a stream, in µs', stream, 'event cpu', 2),
    atMost('kB that a session holds', 'memory', 'memory', 16),
  ],
});

function casesOf(make: typeof ours, judge: typeof judgedByUs, scan: typeof scannedByUs) {
  return {
    [small]: calls(make, 1_000, 2_000),
    '1 kB, another failure each time': calls(make, 1_000, 2_000, '!ENOENT: no such file'),
    '1 kB, the same call': calls(make, 1_000, 1),
    '1 kB, a cycle of five': calls(make, 1_000, 5),
    '1 kB, the same failure': calls(make, 1_000, 1, '!no such text'),
    [large]: calls(make, 100_000, 70),
    [objects]: manyObjects(make),
    [request]: requests(judge),
    [stream]: events(scan),
    memory: held(make),
  };
}

function atMost(says: string, of: string, metric: string, limit: number): Target {
  return { says, of: { subject: 'unwedge', case: of, metric }, atMost: limit };
}
