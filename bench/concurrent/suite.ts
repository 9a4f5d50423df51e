import { loadField } from '../contenders/all.ts';
import { bare } from '../contenders/bare.ts';
import type { Contender } from '../contenders/contender.ts';
import { type Case, defineSuite, type Suite, type Target } from '../harness/suite.ts';
import { heapInFlight, inFlight } from './cases.ts';

const crowds = { '1k in flight': 1000, '10k in flight': 10_000, '20k in flight': 20_000 };
const memory = '10k in flight, memory';

/** What calls cost of which many are in flight. */
export async function loadConcurrentSuite(): Promise<Suite> {
  const { contenders, missing } = await loadField();
  return defineSuite({
    name: 'concurrent',
    about:
      'Calls that are in flight together, under the policy of `calls`: started in one turn of the event loop, none answers before all are. A Node timer for each is ' +
      'part of what it costs, where there is one.',
    baseline: bare.name,
    subjects: contenders.map((contender) => ({
      name: contender.name,
      about: contender.about,
      cases: casesOf(contender),
    })),
    missing,
    targets: [
      {
        says: 'CPU time to start 10,000 calls, against opossum',
        of: figure('unwedge', '10k in flight', 'start cpu'),
        over: figure('opossum', '10k in flight', 'start cpu'),
        atMost: 1,
      },
      {
        says: 'CPU time to settle 10,000 calls, against opossum',
        of: figure('unwedge', '10k in flight', 'settle cpu'),
        over: figure('opossum', '10k in flight', 'settle cpu'),
        atMost: 2,
      },
      { says: 'bytes of a call in flight', of: figure('unwedge', memory, 'heap'), by: 'median', atMost: 900 },
      ...['start cpu', 'settle cpu'].map(
        (metric): Target => ({
          says: `${metric} of a call, one of 20,000 against one of 1,000`,
          of: figure('unwedge', '20k in flight', metric),
          over: figure('unwedge', '1k in flight', metric),
          atMost: 2,
        }),
      ),
      {
        // The work that is called, and the list of the calls, hold 0.4 kB each whoever calls.
        says: 'bytes of a call in flight, over the bare work',
        of: figure('unwedge', memory, 'heap over bare'),
        by: 'median',
        atMost: 600,
      },
      {
        says: 'bytes left of it once it is settled',
        of: figure('unwedge', memory, 'left after'),
        by: 'median',
        atMost: 16,
      },
      { says: 'timers left', of: figure('unwedge', memory, 'timers left'), by: 'median', atMost: 0 },
    ],
  });
}

function casesOf(contender: Contender): Record<string, Case> {
  const able = Object.entries(crowds).filter(([, count]) => contender.dear === 0 || count <= 10_000);
  const timed = able.map(([name, count]) => [name, inFlight(contender, count)]);
  return { ...(Object.fromEntries(timed) as Record<string, Case>), [memory]: heapInFlight(contender, bare, 10_000) };
}

function figure(subject: string, of: string, metric: string) {
  return { subject, case: of, metric };
}
