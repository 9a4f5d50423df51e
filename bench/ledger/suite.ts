import { type Case, defineSuite, type Subject, type Target } from '../harness/suite.ts';
import { bareLedger } from './bare.ts';
import { keepCalls, type Ledger } from './calls.ts';
import { idleHeap } from './idle.ts';
import { keptLedger } from './kept.ts';
import { lateness, pendingHeap } from './watchdog.ts';

/** Calls in flight, and how many are kept in all. */
const loads = { '1 in flight': [5000, 1], '100 in flight': [50_000, 100], '10k in flight': [50_000, 10_000] } as const;
const watchdog = '10k pending, watchdog';
const idle = '5k idle sessions, heap';
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
      [pending]: pendingHeap(10_000),
    }),
    subject('better-sqlite3', 'prepared statements in transactions', bareLedger),
  ],
  targets: [
    ...Object.keys(loads).map(targetOf),
    { says: 'p99 of the watchdog being late, ms', of: figure(watchdog, 'late p99'), atMost: 50 },
    { says: 'bytes of an idle session', of: figure(idle, 'heap'), atMost: 8192 },
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
