import { type Case, defineSuite, ownTarget, type Suite } from '../harness/suite.ts';
import { atOnce, oneByOne } from './atOnce.ts';
import { firstByte, throughput } from './cases.ts';
import { bare, portkey, supervised, type Way } from './ways.ts';

const first = 'the first byte of an answer to 48 KB';
const stream = 'one stream of 100,000 events';
const flight = 'objects in answer to 2 kB, 32 at a time';
const short = 'streams of one event in answer to 2 kB, 32 at a time';
const single = 'an object in answer to 2 kB, one at a time';
const paced = 'a stream of 200 events, each in a turn of its own';

const casesOf = (way: Way): Record<string, Case> => ({
  [flight]: atOnce(way, 32, 0),
  [short]: atOnce(way, 32, 1),
  [single]: oneByOne(way, 0),
  [paced]: oneByOne(way, 200),
});

/** What it costs to have `unwedge api` before the API of a model. */
export const apiSuite: Suite = defineSuite({
  name: 'api',
  about:
    'A model API that answers at once, asked through a reverse proxy of Node that does nothing (`http.request` and `pipe`, connections kept) and through ' +
    '`unwedge api`, three processes each. Each run takes turns between its own proxy and a bare one; `added`, `share` and `times bare` are of these turns.' +
    (portkey === undefined
      ? ' The npm package @portkey-ai/gateway is not installed and is left out: `npm ci --ignore-scripts` in bench.'
      : ''),
  baseline: 'bare',
  subjects: [
    {
      name: 'bare',
      about: 'a proxy that does nothing',
      cases: { [first]: firstByte(bare), [stream]: throughput(bare), ...casesOf(bare) },
    },
    {
      name: 'unwedge',
      about: '`unwedge api`, with a store of its own',
      cases: { [first]: firstByte(supervised), [stream]: throughput(supervised), ...casesOf(supervised) },
    },
    ...(portkey === undefined
      ? []
      : [
          { name: 'portkey', about: 'the npm package @portkey-ai/gateway, with its defaults', cases: casesOf(portkey) },
        ]),
  ],
  targets: [
    ownTarget('what is added to the first byte, in ms', first, 'added', { atMost: 1 }),
    ownTarget('throughput of one stream, as a share of a bare proxy', stream, 'share', { atLeast: 0.8 }),
    ownTarget('requests a second, 32 at a time, as a share of a bare proxy', flight, 'share of bare', { atLeast: 0.8 }),
    ownTarget('the same of short streams', short, 'share of bare', { atLeast: 0.8 }),
    ownTarget('its peak memory, in bytes', flight, 'peak memory', { atMost: 75_000_000 }),
    ownTarget('what is added to an answer, p50, times what a bare proxy adds', single, 'added, times bare', {
      atMost: 1.4,
    }),
    ownTarget('a stream of 200 events, p50, times a bare proxy', paced, 'times bare', { atMost: 1.15 }),
  ],
});
