import { defineSuite, type Suite } from '../harness/suite.ts';
import { bare, firstByte, supervised, throughput } from './cases.ts';

const first = 'the first byte of an answer to 48 KB';
const stream = 'one stream of 100,000 events';

/** What it costs to have `unwedge api` before the API of a model. */
export const apiSuite: Suite = defineSuite({
  name: 'api',
  about:
    'A model API that answers at once, asked through a reverse proxy of Node that does nothing (`http.request` and `pipe`) and through `unwedge api`, ' +
    'three processes each. Each run takes turns between its own proxy and a bare one; `added` and `share` are of these turns.',
  baseline: 'bare',
  subjects: [
    {
      name: 'bare',
      about: 'a proxy that does nothing',
      cases: { [first]: firstByte(bare), [stream]: throughput(bare) },
    },
    {
      name: 'unwedge',
      about: '`unwedge api`',
      cases: { [first]: firstByte(supervised), [stream]: throughput(supervised) },
    },
  ],
  targets: [
    {
      says: 'what is added to the first byte, in ms',
      of: { subject: 'unwedge', case: first, metric: 'added' },
      by: 'median',
      atMost: 1,
    },
    {
      says: 'throughput of one stream, as a share of that of a bare proxy in the same turns',
      of: { subject: 'unwedge', case: stream, metric: 'share' },
      by: 'median',
      atLeast: 0.8,
    },
  ],
});
