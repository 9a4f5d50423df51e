// A gateway whose sessions ask people, to be killed: `node inboxHost.mjs DATABASE JOURNAL`. Takes `SESSION KEY` on each line of its stdin. A message has an
// approval and a question asked, one after the other; what handlers were asked, and what turns were answered, is appended to the journal, in JSON.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGateway } from '../../dist/index.js';

const [, , store, journal] = process.argv;
const overallMs = 2500;
const note = (entry) => appendFileSync(journal, `${JSON.stringify({ ...entry, pid: process.pid })}\n`);
const gateway = createGateway({ store, control: false, inbox: true });
/** What the code that asks says by itself: of every fourth message it allows, of every fifth it declines, else it leaves it to people. */
const own = (what) => {
  const number = Number(what.split(' ')[0].slice(2));
  return number % 4 === 0 ? 'accept' : number % 5 === 0 ? 'decline' : undefined;
};
const asked = (question, what) => {
  const decision = own(what);
  note({ handler: question, what, decision });
  return decision;
};
const approve = gateway.approval('deploys', ({ question, action }) => asked(question, action), { overallMs });
for (const id of ['s-0', 's-1', 's-2', 's-3', 's-4', 's-5']) {
  gateway.session(id, {
    recovery: { maxDeliveries: 100 },
    onMessage: async ({ data: { key } }, turn) => {
      const about = { session: id, key, delivery: turn.delivery };
      const approval = await approve({ action: `${key} approval`, session: id });
      // A turn that the stop of its gateway cut is delivered again.
      if (turn.signal.aborted) return;
      note({ ...about, what: `${key} approval`, allowed: approval.decision === 'accept', failure: approval.failure });
      const ask = (_signal, { question }) => asked(question, `${key} ask`) && own(key) === 'accept';
      const outcome = await turn.ask(`${key} ask`, ask, { overallMs });
      const failure = outcome.ok ? undefined : outcome.failure.reason;
      if (turn.signal.aborted) return;
      note({ ...about, what: `${key} ask`, allowed: outcome.ok && outcome.value === true, failure });
      process.stdout.write(`processed ${key}\n`);
    },
  });
}
process.on('SIGTERM', () => void gateway.stop().then(() => process.exit(0)));
await gateway.start();
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const [session, key] = line.split(' ');
  await gateway.session(session).send({ kind: 'user', data: { key } }, { key });
}
