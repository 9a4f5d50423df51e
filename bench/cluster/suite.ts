import { defineSuite, type Subject, type Suite, type Target } from '../harness/suite.ts';
import { keptByPg } from './bare.ts';
import { calls, renewals, sends } from './cases.ts';
import { hasServer, type Keeping } from './database.ts';
import { keptByUnwedge } from './kept.ts';
import { takeovers } from './takeovers.ts';

/** Messages in flight, and how many are sent in all. */
const loads = { '10 in flight': [10_000, 10], '100 in flight': [30_000, 100], '500 in flight': [60_000, 500] } as const;
const killed = 'take-over, one of two nodes killed';
const frozen = 'take-over, one of two nodes frozen';
const turn = 'kept calls, one after the other';

/** What keeping sessions in PostgreSQL costs, against the driver it is kept with. */
export function loadClusterSuite(): Suite {
  return defineSuite({
    name: 'cluster',
    about:
      'A real PostgreSQL on this machine that syncs each commit to its disk: messages acknowledged, and calls on disk before they are dispatched and ' +
      'their results after. The baseline is `pg` with the same tables, rows and rows in a commit, no fence, and nobody who may take over.',
    baseline: 'pg',
    subjects: hasServer
      ? [
          subject('unwedge', 'ledgers of claimed sessions, each write awaited', keptByUnwedge, {
            'renewal, 1 session': renewals(1),
            'renewal, 10k sessions': renewals(10_000),
            'renewal, 100k sessions': { ...renewals(100_000), long: true },
            [killed]: takeovers('SIGKILL'),
            [frozen]: takeovers('SIGSTOP'),
          }),
          subject('pg', 'prepared statements, each of them a transaction', keptByPg),
        ]
      : [],
    targets: [
      ...['100 in flight', '500 in flight'].flatMap((load) => [
        target(load, 'send wall', 'wall time of a send', 1.3),
        target(load, 'send cpu', 'CPU time of a send', 1.3),
      ]),
      target(turn, 'call wall', 'wall time of a kept call', 1.5),
      inTime(killed, 'p50', 400),
      inTime(killed, 'p99', 1200),
      inTime(frozen, 'p99', 3000),
    ],
    missing: hasServer ? [] : ['unwedge', 'pg'],
  });
}

function subject(name: string, about: string, keepingOf: () => Promise<Keeping>, more: Subject['cases'] = {}): Subject {
  const sent = Object.entries(loads).map(([load, [count, inFlight]]) => [load, sends(keepingOf, count, inFlight)]);
  const cases = Object.fromEntries(sent) as Subject['cases'];
  return { name, about, cases: { ...cases, [turn]: calls(keepingOf, 500), ...more } };
}

/** The middle of the rounds: each has some 50 sessions of each of ten nodes. */
function inTime(of: string, quantile: 'p50' | 'p99', atMost: number): Target {
  const about = { subject: 'unwedge', case: of, metric: `take-over ${quantile}` };
  return { says: `take-over ${quantile} in ms, ${of}`, of: about, by: 'median', atMost };
}

function target(of: string, metric: string, says: string, atMost: number): Target {
  const figure = (name: string) => ({ subject: name, case: of, metric });
  return { says: `${says}, ${of}, against pg`, of: figure('unwedge'), over: figure('pg'), atMost };
}
