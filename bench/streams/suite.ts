import { parsedEvents, supervisedEvents } from './events.ts';
import { defineSuite, type Suite } from '../harness/suite.ts';
import { addedByChunk, bare, longStream, manyStreams, supervised } from './cases.ts';

const long = 'one stream of 200,000 chunks';
const events = 'one stream of 200,000 events';
const many = '10k in flight';
const added = 'what is added to a chunk';

/** What supervision costs a stream. */
export const streamsSuite: Suite = defineSuite({
  name: 'streams',
  about:
    'A source that answers at once, read with `for await`: as it is, and by `integration.stream()`. And many short streams that are open at the same time.',
  baseline: 'bare',
  subjects: [
    {
      name: 'bare',
      about: 'the async iterable itself; of events, the parser in a loop over the body',
      cases: { [long]: longStream(bare), [many]: manyStreams(bare), [events]: parsedEvents() },
    },
    {
      name: 'unwedge',
      about: '`integration.stream()`; of events, `gateway.http().stream()`',
      cases: {
        [long]: longStream(supervised),
        [many]: manyStreams(supervised),
        [added]: addedByChunk(),
        [events]: supervisedEvents(),
      },
    },
  ],
  targets: [
    {
      says: 'CPU time that is added to a chunk, in µs',
      of: { subject: 'unwedge', case: added, metric: 'added cpu' },
      atMost: 0.3,
    },
  ],
});
