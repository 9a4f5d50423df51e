import { loadField } from '../contenders/all.ts';
import { bare, controllerAndTimer } from '../contenders/bare.ts';
import { defineSuite, type Suite } from '../harness/suite.ts';
import { byHand, failsForGood, failsOnce } from './cases.ts';

const once = 'fails once, 10 at a time';
const inTurn = 'fails once, in turn';
const small = 'fails for good, window of 50';
const large = 'fails for good, window of 50,000';

/** What a failure costs. */
export async function loadFailuresSuite(): Promise<Suite> {
  const { contenders, missing } = await loadField();
  // Without a retry there is nothing to compare.
  const unable = [bare.name, controllerAndTimer.name, 'opossum'];
  const able = contenders.filter(({ name }) => !unable.includes(name));
  return defineSuite({
    name: 'failures',
    about:
      'A call that fails once and succeeds 1 ms later, under the policy of `calls` with a breaker that never opens; opossum has no retry. And, of ours alone, a call ' +
      'that fails for good, while the window of the breaker holds few or many attempts.',
    baseline: byHand.name,
    subjects: [...able, byHand].map((contender) => ({
      name: contender.name,
      about: contender.about,
      cases: {
        [once]: failsOnce(contender, 10),
        [inTurn]: failsOnce(contender, 1),
        ...(contender.name === 'unwedge' ? { [small]: failsForGood(50), [large]: failsForGood(50_000) } : {}),
      },
    })),
    missing: missing.filter((name) => name !== 'opossum'),
    targets: [
      {
        says: 'CPU time of a call that fails once, against cockatiel',
        of: { subject: 'unwedge', case: once, metric: 'call cpu' },
        over: { subject: 'cockatiel', case: once, metric: 'call cpu' },
        atMost: 1,
      },
      ...[once, inTurn].map((name) => ({
        says: `CPU time of a call that ${name}, against by hand`,
        of: { subject: 'unwedge', case: name, metric: 'call cpu' },
        over: { subject: byHand.name, case: name, metric: 'call cpu' },
        atMost: 2.5,
      })),
      {
        says: 'CPU time in µs of a call, of which nine in ten fail for good',
        of: { subject: 'unwedge', case: small, metric: 'call cpu' },
        atMost: 15,
      },
      {
        says: 'CPU time of a failure, window of 50,000 against 50',
        of: { subject: 'unwedge', case: large, metric: 'call cpu' },
        over: { subject: 'unwedge', case: small, metric: 'call cpu' },
        atMost: 1.3,
      },
    ],
  });
}
