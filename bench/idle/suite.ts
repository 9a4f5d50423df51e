import { defineSuite } from '../harness/suite.ts';
import { idleGateway, idleProcess } from './cases.ts';

const name = '10,000 idle, 100 busy';

/** What it costs that nothing happens. */
export const idleSuite = defineSuite({
  name: 'idle',
  about:
    'A gateway with 10,000 idle sessions and 100 that wait for a tool, looked at for 4 s in which nothing happens: who polls would be seen. The baseline is a process ' +
    'with as many promises and nothing to do.',
  baseline: 'node',
  subjects: [
    {
      name: 'unwedge',
      about: 'sessions of a gateway in memory, watchdogs and limits armed',
      cases: { [name]: idleGateway(10_000, 100) },
    },
    { name: 'node', about: 'promises that nobody resolves', cases: { [name]: idleProcess(10_100) } },
  ],
  targets: [
    { says: 'CPU while idle, %', of: figure('cpu'), by: 'median', atMost: 1 },
    { says: 'timers', of: figure('timers'), by: 'median', atMost: 10 },
    { says: 'timers 4 s later, against before', of: figure('timers, 4 s later'), over: figure('timers'), atMost: 1 },
  ],
});

function figure(metric: string) {
  return { subject: 'unwedge', case: name, metric };
}
