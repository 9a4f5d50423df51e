import { platform } from 'node:os';
import { defineSuite, type Suite } from '../harness/suite.ts';
import { chromiumPath, inChromium, nobody, watched } from './cases.ts';

const name = '10k sessions, 1k events/s';
const hasProcesses = platform() === 'linux';

/** What it costs a gateway that somebody looks at it. */
export function loadDashboardSuite(): Suite {
  if (chromiumPath === undefined) process.stderr.write('missing: chromium; what a viewer costs was not measured\n');
  const isThere = hasProcesses && chromiumPath !== undefined;
  return defineSuite({
    name: 'dashboard',
    about:
      'A gateway with 10,000 sessions in a file that records 1,000 events a second, and the server of its dashboard, each in a process of its own. ' +
      'Of one nobody looks at the page, of the other a page in Chromium shows the sessions, in turn in one run.',
    baseline: 'nobody',
    subjects: [
      {
        name: 'nobody',
        about: 'no page is open',
        cases: hasProcesses ? { [name]: watched(10_000, 1000, nobody) } : {},
      },
      ...(isThere
        ? [{ name: 'viewed', about: 'a page in Chromium', cases: { [name]: watched(10_000, 1000, inChromium) } }]
        : []),
    ],
    missing: isThere ? [] : ['viewed', ...(hasProcesses ? [] : ['nobody'])],
    targets: [
      {
        says: 'CPU of the gateway with a viewer, against without one',
        of: { subject: 'viewed', case: name, metric: 'gateway cpu' },
        over: { subject: 'nobody', case: name, metric: 'gateway cpu' },
        atMost: 2,
      },
      {
        says: 'longest time the page did not answer, in ms',
        of: { subject: 'viewed', case: name, metric: 'longest stall' },
        by: 'median',
        atMost: 200,
      },
    ],
  });
}
