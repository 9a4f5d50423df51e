import { defineSuite, type Subject } from '../harness/suite.ts';
import { type Feature, fails, stream, succeeds, watch } from './cases.ts';

const works = 'succeeds';
const broken = 'fails for good';

/** What each feature adds to a plain call. */
export const featuresSuite = defineSuite({
  name: 'features',
  about:
    'A call of a function integration, one after the other, with one thing switched on at a time, against the same with none: a gateway in memory to whose events nobody has ' +
    'subscribed. A call that fails for good is a record, an event and a figure of the alerts.',
  baseline: 'plain',
  subjects: [
    subject('plain', 'nothing switched on', {}),
    subject('signal read', 'the work looks at its signal', { readsSignal: true }),
    subject('a signal of the caller', 'one for all calls', { options: { signal: new AbortController().signal } }),
    subject('a label', 'options with a label', { options: { label: 'docs' } }),
    subject('a scope', 'calls of a scope run one at a time', { options: { scope: 'main' } }),
    subject('a fallback', 'that is not needed by a call that succeeds', { options: { fallback: () => undefined } }),
    subject('one event', 'a listener on `call.succeeded`', {
      on: (gateway) => gateway.on('call.succeeded', () => undefined),
    }),
    subject('all events', 'a listener on `*`', { on: (gateway) => gateway.on('*', () => undefined) }),
    subject('a stream of events', '`for await` over gateway.events()', { on: stream }),
    subject('SQLite', 'a store in a file, for failures and facts', { file: true }),
    subject('no alerts', '`alerts: false`', { gateway: { alerts: false } }),
    subject('watched', 'an inspector that reads every frame', { calls: 5000, on: watch }),
    subject('by a session', 'a tool call of a turn, with its watchdog and history', {
      bySession: true,
    }),
    subject('by a kept session', 'the same, each call and its result on disk before it goes on', {
      calls: 3000,
      bySession: true,
      file: true,
    }),
  ],
  targets: [
    {
      says: 'CPU time of a call that succeeds, with a store in a file, which it has nothing to write to',
      of: { subject: 'SQLite', case: works, metric: 'call cpu' },
      over: { subject: 'plain', case: works, metric: 'call cpu' },
      atMost: 1.3,
    },
  ],
});

function subject(name: string, about: string, feature: Feature): Subject {
  return { name, about, cases: { [works]: succeeds(feature), [broken]: fails(feature) } };
}
