import { loadField } from '../contenders/all.ts';
import { controllerAndTimer } from '../contenders/bare.ts';
import { type Case, defineSuite, type Suite, type Target } from '../harness/suite.ts';
import { underOneSignal } from './cases.ts';

const few = '2k under one signal';
const many = '20k under one signal';

/** What it costs that one signal may end many calls. */
export async function loadParentSignalSuite(): Promise<Suite> {
  const { contenders, missing } = await loadField();
  const able = contenders.filter(({ takesSignal }) => takesSignal);
  return defineSuite({
    name: 'parent-signal',
    about:
      'Calls in flight that are given one and the same signal of their caller, which then ends all of them: a turn of a session, say, with its tool calls. opossum ' +
      'and an actor for each call take none.',
    baseline: controllerAndTimer.name,
    subjects: able.map((contender) => {
      const isDear = contender.dear > 0;
      const cases: Record<string, Case> = {
        [few]: { ...underOneSignal(contender, 2000), long: isDear, once: isDear },
        // Node looks through all listeners of a signal for each that is added: 20,000 of a dear one take half a minute.
        ...(isDear ? {} : { [many]: underOneSignal(contender, 20_000) }),
      };
      return { name: contender.name, about: contender.about, cases };
    }),
    missing: missing.filter((name) => name !== 'opossum'),
    targets: [
      ...['start cpu', 'abort of all cpu'].map(
        (metric): Target => ({
          says: `${metric} of a call, one of 20,000 against one of 2,000`,
          of: { subject: 'unwedge', case: many, metric },
          over: { subject: 'unwedge', case: few, metric },
          atMost: 1.5,
        }),
      ),
      {
        says: 'CPU time in µs to end one of 20,000 by their signal',
        of: { subject: 'unwedge', case: many, metric: 'abort of all cpu' },
        atMost: 10,
      },
    ],
  });
}
