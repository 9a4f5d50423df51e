import { defineSuite, type Suite } from '../harness/suite.ts';
import { client, held, inTurn, spawned, subprocess } from './cases.ts';

const call = 'a call that is answered at once';
const overSpawn = 'the same, beside a bare spawn';
const underWay = 'a call under way';

/** What the Claude client adds to a run of the program. */
export const claudeSuite: Suite = defineSuite({
  name: 'claude',
  about:
    'A program that answers in a millisecond, run as `claude -p` is: by the Claude client, by the supervised subprocess that it stands on, and by ' +
    'Node alone. Each run takes turns with the one below it; `added` is of these turns. The real Claude takes seconds.',
  baseline: 'spawn',
  subjects: [
    {
      name: 'spawn',
      about:
        '`child_process.spawn` and `JSON.parse`, without limits, retries, records or an end of what the program leaves behind',
      cases: { [call]: inTurn(spawned, spawned), [underWay]: held(spawned) },
    },
    {
      name: 'subprocess',
      about: '`gateway.subprocess` with `agent: "claude"`',
      cases: { [call]: inTurn(subprocess, spawned), [underWay]: held(subprocess) },
    },
    {
      name: 'unwedge',
      about: '`createClaude()` with its log',
      cases: {
        [call]: inTurn(client, subprocess),
        [overSpawn]: inTurn(client, spawned),
        [underWay]: held(client),
      },
    },
  ],
  targets: [
    {
      says: 'what the client adds to a supervised run, in ms',
      of: { subject: 'unwedge', case: call, metric: 'added' },
      by: 'median',
      atMost: 1,
    },
    {
      says: 'what a call under way holds, in bytes',
      of: { subject: 'unwedge', case: underWay, metric: 'heap' },
      atMost: 1024 * 1024,
    },
  ],
});
