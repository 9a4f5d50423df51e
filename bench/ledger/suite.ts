import { succeeds } from '../features/cases.ts';
import { type Case, defineSuite, type Subject, type Target } from '../harness/suite.ts';
import { bareLedger } from './bare.ts';
import { keepCalls, type Ledger } from './calls.ts';
import { idleHeap } from './idle.ts';
import { keptLedger } from './kept.ts';
import { startOfMany } from './many.ts';
import { lateness, pendingHeap } from './watchdog.ts';

/** Calls in flight, and how many are kept in all. */
const loads = { '1 in flight': [5000, 1], '100 in flight': [50_000, 100], '10k in flight': [50_000, 10_000] } as const;
const watchdog = '10k pending, watchdog';
const idle = '5k idle sessions, heap';
const worked = '5k sessions after a turn, heap';
const many = '100k kept sessions';
const toolCall = 'a tool call of a kept session';
const pending = '10k pending calls, heap';

/** What keeping the calls of sessions costs, against the database it is kept in. */
export const ledgerSuite = defineSuite({
  name: 'ledger',
  about:
    'What it costs to have a tool call on disk before it is dispatched, and its result after: two rows, the same ones, as many of them ' +
    'in a commit. The baseline writes them in a loop and has nobody to tell.',
  baseline: 'better-sqlite3',
  subjects: [
    subject('unwedge', 'open() and settle() of a claimed session, each awaited', keptLedger, {
      [watchdog]: lateness(10_000, 5000),
      [idle]: idleHeap(5000),
      [worked]: idleHeap(5000, true),
      [many]: startOfMany(100_000),
      [toolCall]: succeeds({ calls: 3000, bySession: true, file: true }),
      [pending]: pendingHeap(10_000),
    }),
    subject('better-sqlite3', 'prepared statements in transactions', bareLedger),
  ],
  targets: [
    ...Object.keys(loads).map(targetOf),
    { says: 'p99 of the watchdog being late, ms', of: figure(watchdog, 'late p99'), atMost: 50 },
    { says: 'bytes of an idle session', of: figure(idle, 'heap'), atMost: 3000 },
    { says: 'start of 100,000 kept sessions, ms', of: figure(many, 'start'), atMost: 4000 },
    { says: 'their memory at the most, kB', of: figure(many, 'most memory'), atMost: 450_000 },
    { says: 'longest turn of their start, ms', of: figure(many, 'longest turn'), atMost: 50 },
    {
      says: 'CPU time of a tool call of a kept session, against its two rows in better-sqlite3',
      of: figure(toolCall, 'call cpu'),
      over: { subject: 'better-sqlite3', case: '1 in flight', metric: 'call cpu' },
      atMost: 1.2,
    },
  ],
});

function subject(
  name: string,
  about: string,
  ledgerOf: () => Ledger | Promise<Ledger>,
  more: Record<string, Case> = {},
): Subject {
  const kept = Object.entries(loads).map(([load, [count, inFlight]]) => [load, keepCalls(ledgerOf, count, inFlight)]);
  return { name, about, cases: { ...(Object.fromEntries(kept) as Record<string, Case>), ...more } };
}

function targetOf(load: string): Target {
  return {
    says: `wall time of a kept call, ${load}, against better-sqlite3`,
    of: figure(load, 'call wall'),
    over: { subject: 'better-sqlite3', case: load, metric: 'call wall' },
    atMost: 1.5,
  };
}

function figure(of: string, metric: string) {
  return { subject: 'unwedge', case: of, metric };
}
