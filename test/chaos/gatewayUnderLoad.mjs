// A gateway under load, to be killed or stopped: `node gatewayUnderLoad.mjs DATABASE JOURNAL`. Takes `SESSION KEY` on each line of its stdin and
// says `accepted KEY WAITING DURABLE` or `refused KEY REASON`; each message makes two tool calls. `stop MS` stops it with a drain, SIGTERM without.
// Everything that happens is appended to the journal first.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createGateway } from '../../dist/index.js';

const [, , store, journal] = process.argv;
const note = (...words) => appendFileSync(journal, `${words.join(' ')}\n`);
const say = (...words) => process.stdout.write(`${words.join(' ')}\n`);

const waiting = () => ids.reduce((sum, id) => sum + gateway.session(id).waiting, 0);

const gateway = createGateway({ store, control: false });
gateway.on('process.started', ({ pid }) => note('child', pid));
gateway.integration('work', {}, async ({ input }) => {
  note('effect', input.key, input.step);
  // Some answer at once; with the others most turns are in the middle of a call at any time.
  await new Promise((resolve) => setTimeout(resolve, (Number(input.key.slice(2)) * 2 + input.step) % 5));
  return input.step;
});
// Known by its word: whoever judges looks for what is left of it.
const hold = gateway.subprocess('hold', { command: 'sleep', args: ['86397'] });
const ids = ['s-0', 's-1', 's-2', 's-3'];
for (const id of ids) {
  gateway.session(id, {
    recovery: { maxDeliveries: 5 },
    onMessage: async ({ data: { key } }, turn) => {
      note('begun', key, turn.delivery);
      // Like most handlers it takes what it gets, and returns normally from a turn that was cut.
      let answered = 0;
      for (const step of [1, 2]) {
        const { status } = await turn.tool('work', 'step', { key, step });
        if (status === 'ok') answered++;
      }
      if (answered === 2) note('processed', key);
      say('processed', key, waiting());
    },
  });
}
const lines = createInterface({ input: process.stdin });
let stopping = false;
async function stop(drainMs) {
  stopping = true;
  await gateway.stop({ drainMs });
  lines.close();
  process.stdin.destroy();
}
process.once('SIGTERM', () => void stop(0));
await gateway.start();
void hold.call({});
say('ready');
for await (const line of lines) {
  const [session, key] = line.split(' ');
  if (session === 'stop') void stop(Number(key));
  if (stopping) continue;
  void gateway
    .session(session)
    .send({ kind: 'user', data: { key } }, { key })
    .then((given) =>
      given.accepted || given.reason === 'duplicate'
        ? say('accepted', key, waiting(), given.durable ?? true)
        : say('refused', key, given.reason),
    );
}
// Nothing more comes: what was accepted is processed to its end.
const busy = () =>
  !stopping &&
  ids.some((id) => {
    const { waiting, state, heldElsewhere } = gateway.session(id);
    // One that lost its lease on a loaded machine claims it again, with what waits.
    return waiting > 0 || state !== 'idle' || heldElsewhere;
  });
while (busy()) await gateway.wait('session.turn_ended', { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
await gateway.stop();
