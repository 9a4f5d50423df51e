import { type Case, type Subject, type Target, defineSuite } from '../harness/suite.ts';
import { crashToAnswer, heapOf, startAndStop } from './cases.ts';
import { type Crew, loneCrew, unwedgeCrew, xstateCrew } from './crew.ts';
import { idle, timed } from './logic.ts';
import { storm } from './storm.ts';

const logics = { idle, 'with a timer': timed };
const sizes = { '1k': 1000, '5k': 5000, '10k': 10_000, '50k': 50_000, '100k': 100_000 };
const crash = 'crash, no backoff';
const heap = '20k idle, heap';
const noise = 'one of 1k crashes 1,000/s';

/** The supervisor against the actors it supervises, without it. */
export const supervisorSuite = defineSuite({
  name: 'supervisor',
  about:
    'What supervision adds to XState: the same machines, in the same number, on the same clock and indexed scheduler; the ' +
    'baseline has one root that keeps its actors in a Map and does nothing else.',
  baseline: 'xstate',
  subjects: [
    subject('unwedge', 'startChild() and stop() of a root supervisor', unwedgeCrew),
    subject('xstate', 'createActor() under one root with the same scheduler', xstateCrew),
    {
      name: 'lone',
      about: 'createActor() with an actor system for each, as XState does by itself',
      cases: scale(loneCrew),
    },
  ],
  targets: [
    ...Object.keys(logics).flatMap(targetsOf),
    {
      says: 'crash to restarted and answering, µs',
      of: { subject: 'unwedge', case: crash, metric: 'crash to answer p50' },
      atMost: 150,
    },
    { says: 'bytes of an idle child', of: { subject: 'unwedge', case: heap, metric: 'heap' }, atMost: 4608 },
    {
      says: 'crashes a second',
      of: { subject: 'unwedge', case: noise, metric: 'crashes' },
      by: 'median',
      atLeast: 950,
    },
    {
      says: 'restarts of the 999 siblings meanwhile',
      of: { subject: 'unwedge', case: noise, metric: 'restarts of siblings' },
      atMost: 0,
    },
    {
      says: 'p99 of their answers against quiet',
      of: { subject: 'unwedge', case: noise, metric: 'p99 crashing/quiet' },
      by: 'median',
      atMost: 1.5,
    },
  ],
});

function subject(name: string, about: string, crewOf: () => Crew): Subject {
  return {
    name,
    about,
    cases: {
      ...scale(crewOf),
      [heap]: heapOf(crewOf, idle, 20_000),
      [crash]: crashToAnswer(crewOf, 2000),
      [noise]: storm(crewOf),
    },
  };
}

function scale(crewOf: () => Crew): Record<string, Case> {
  return Object.fromEntries(
    Object.entries(logics).flatMap(([kind, logic]) =>
      Object.entries(sizes).map(([size, count]) => [`${size} ${kind}`, startAndStop(crewOf, logic, count)]),
    ),
  );
}

function targetsOf(kind: string): Target[] {
  const figure = (name: string, size: string, metric: string) => ({ subject: name, case: `${size} ${kind}`, metric });
  return [
    ...['start cpu', 'stop cpu'].map((metric) => ({
      says: `${metric} of a child ${kind}, 100k against 5k`,
      of: figure('unwedge', '100k', metric),
      over: figure('unwedge', '5k', metric),
      atMost: 1.3,
    })),
    ...Object.keys(sizes).map((size) => ({
      says: `start cpu of ${size} children ${kind}, against xstate`,
      of: figure('unwedge', size, 'start cpu'),
      over: figure('xstate', size, 'start cpu'),
      atMost: 1.5,
    })),
  ];
}
