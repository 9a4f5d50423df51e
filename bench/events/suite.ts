import { type Case, defineSuite, type Target } from '../harness/suite.ts';
import { insert, record } from './storing.ts';
import { tellByBus, tellByEmitter } from './telling.ts';
import { callWatched } from './watching.ts';

/** Subscribers of one fact. */
const audiences = [0, 1, 10] as const;
/** Final failures in one turn of the event loop; a commit takes up to 500. */
const batches = [500, 50] as const;

const telling = (count: number): string => `told to ${count === 1 ? 'one' : count === 0 ? 'nobody' : 'ten'}`;
const storing = (perTurn: number): string => `into SQLite, ${perTurn} a turn`;

/** What it costs to tell of what happens, and to have it on record. */
export const eventsSuite = defineSuite({
  name: 'events',
  about:
    'What a fact costs: told to nobody, to one and to ten subscribers, with its time and without secrets, beside the emitter alone; and ' +
    'final failures on their way into SQLite, shaped and redacted, beside the same rows shaped and inserted in transactions of as many; and a call, with ' +
    'its machines watched by an inspector and not.',
  baseline: 'bare',
  subjects: [
    {
      name: 'unwedge',
      about: 'the bus and the store of a gateway',
      cases: {
        ...cases(audiences, telling, tellByBus),
        ...cases(batches, storing, record),
        'call, never watched': callWatched('never'),
        'call, watched no longer': callWatched('before'),
        'call, watched': callWatched('now'),
      },
    },
    {
      name: 'bare',
      about: 'eventemitter3, and better-sqlite3 with a prepared statement',
      cases: {
        ...cases(audiences, telling, tellByEmitter),
        ...cases(batches, storing, insert),
      },
    },
  ],
  targets: [
    ...batches.map(targetOf),
    {
      says: 'CPU time of a call that an inspector watches no longer, against one that none has watched',
      of: { subject: 'unwedge', case: 'call, watched no longer', metric: 'call cpu' },
      over: { subject: 'unwedge', case: 'call, never watched', metric: 'call cpu' },
      atMost: 1.1,
    },
  ],
});

function cases<N extends number>(
  counts: readonly N[],
  name: (count: N) => string,
  of: (count: N) => Case,
): Record<string, Case> {
  return Object.fromEntries(counts.map((count) => [name(count), of(count)]));
}

function targetOf(perTurn: number): Target {
  const figure = { case: storing(perTurn), metric: 'event cpu' };
  return {
    says: `CPU time of an event into SQLite, ${perTurn} a turn, against better-sqlite3`,
    of: { subject: 'unwedge', ...figure },
    over: { subject: 'bare', ...figure },
    atMost: 1.5,
  };
}
