// A gateway of a cluster under load, to be harmed: `node clusterNode.js NAME STORE JOURNAL SKEW_MS SESSIONS`. Takes `SESSION KEY` on each line of its
// stdin and says `accepted KEY DURABLE` or `refused KEY REASON`; each message makes two tool calls that are kept. SIGTERM
// stops it. What it believes goes to the journal when the answer has come, before anything follows from it.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGateway } from '../../src/index.ts';
import type { Clock } from '../../src/policy/clock.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import { PostgresStore } from '../../postgres/postgresStore.ts';
import { hearTokens, journalled, type Note } from './journal.ts';

const [, , node = '', store = '', journal = '', skewMs = '0', count = '1'] = process.argv;
const note: Note = (entry) => appendFileSync(journal, `${JSON.stringify(entry)}\n`);
const say = (...words: readonly unknown[]): void => void process.stdout.write(`${words.join(' ')}\n`);
/** Who started it may be gone. */
process.stdout.on('error', () => process.exit(1));

hearTokens();
// eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with its own `this`.
const { sessions } = PostgresStore.prototype;
PostgresStore.prototype.sessions = function withJournal(...args) {
  return journalled(sessions.apply(this, args), node, note);
};

const { now } = Date;
Date.now = () => now() + Number(skewMs);
const clock: Clock = { ...systemClock, wallNow: () => Date.now() };

const gateway = createGateway({ store, control: false, clock });
gateway.integration('work', {}, async ({ input }: { input: { readonly key: string; readonly step: number } }) => {
  const number = Number(input.key.replaceAll(/\D/g, ''));
  // Some answer at once; with the others most turns are in the middle of a call at any time.
  await new Promise((resolve) => {
    setTimeout(resolve, (number * 2 + input.step) % 20);
  });
  return input.key;
});
const added = new Set<string>();
function addSession(index: number): void {
  const session = `s-${index}`;
  added.add(session);
  gateway.session(session, {
    recovery: { maxDeliveries: 100 },
    historyLimit: 5000,
    onMessage: async ({ data }, turn) => {
      const { key } = data as { readonly key: string };
      for (const step of [1, 2]) await turn.tool('work', 'step', { key, step });
    },
  });
}
/** A few of its own come first, so that each node has some. */
const own = Number(node.replaceAll(/\D/g, '')) % 4;
const isOwn = (index: number): boolean => index % 4 === own;
const indexes = Array.from({ length: Number(count) }, (_, index) => index);
for (const index of indexes.filter(isOwn)) addSession(index);
const lines = createInterface({ input: process.stdin });
let isStopping = false;
async function stop(): Promise<void> {
  isStopping = true;
  await gateway.stop({ drainMs: 100 });
  process.exit(0);
}
process.once('SIGTERM', () => void stop());
await gateway.start();
say('ready');
setTimeout(() => {
  if (!isStopping) for (const index of indexes.filter((each) => !isOwn(each))) addSession(index);
}, 300);
for await (const line of lines) {
  const [session = '', key = ''] = line.split(' ');
  if (isStopping) continue;
  if (!added.has(session)) {
    say('refused', key, 'owned_elsewhere');
    continue;
  }
  void gateway
    .session(session)
    .send({ kind: 'user', data: { key } }, { key })
    .then((given) => {
      if (given.accepted) {
        say('accepted', key, given.durable);
        void given.processed.then(({ ok }) => {
          if (ok && given.durable) note({ type: 'reply', node, session, key });
        });
      } else if (given.reason === 'duplicate') say('duplicate', key);
      else say('refused', key, given.reason);
    });
}
process.exit(0);
