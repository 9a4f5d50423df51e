import { defineSuite } from '../harness/suite.ts';
import { allocates, inTurn } from './cases.ts';

/** What it costs to count how calls end, and to hold the last of them. */
export const statisticsSuite = defineSuite({
  name: 'statistics',
  about:
    'A call that succeeds at once, counted with its latency and held by the flight recorder, of an integration alone and of one of its tools as well, in turn with the same call that nobody ' +
    'counts. Nobody listens to events.',
  baseline: 'uncounted',
  subjects: [
    { name: 'counted', about: 'a counter of the integration', cases: casesOf('whole') },
    { name: 'counted by tool', about: 'a counter of the integration, and one of the tool', cases: casesOf('tool') },
    { name: 'uncounted', about: 'no counter', cases: casesOf('not') },
  ],
  targets: [
    {
      says: 'CPU time that counting adds to a call in turn, in µs',
      of: { subject: 'counted', case: 'in turn', metric: 'cpu over uncounted' },
      by: 'median',
      atMost: 0.12,
    },
    {
      // The time of its end is read, and that is a number of 16 bytes.
      says: 'bytes allocated by a counted call, against one that is not',
      of: { subject: 'counted', case: 'in turn, memory', metric: 'allocated' },
      over: { subject: 'uncounted', case: 'in turn, memory', metric: 'allocated' },
      atMost: 1.03,
    },
  ],
});

function casesOf(counted: Parameters<typeof inTurn>[0]) {
  return { 'in turn': inTurn(counted), 'in turn, memory': allocates(counted) };
}
