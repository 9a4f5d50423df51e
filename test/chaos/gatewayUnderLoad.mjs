// A gateway under load, to be killed: `node gatewayUnderLoad.mjs DATABASE JOURNAL`. Takes `SESSION KEY` on each line of its stdin and says
// `accepted KEY WAITING DURABLE` or `refused KEY REASON`; each message makes two tool calls. Everything that happens is appended to the journal first.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createGateway } from '../../dist/index.js';

const [, , store, journal] = process.argv;
const silent = fileURLToPath(new URL('../fixtures/silent.mjs', import.meta.url));
const note = (...words) => appendFileSync(journal, `${words.join(' ')}\n`);
const say = (...words) => process.stdout.write(`${words.join(' ')}\n`);

const waiting = () => ids.reduce((sum, id) => sum + gateway.session(id).waiting, 0);

const gateway = createGateway({ store, control: false });
gateway.on('process.started', ({ pid }) => note('child', pid));
gateway.integration('work', {}, async ({ input }) => {
  note('effect', input.key, input.step);
  await new Promise((resolve) => setImmediate(resolve));
  return input.step;
});
const hold = gateway.subprocess('hold', { command: process.execPath, args: [silent] });
const ids = ['s-0', 's-1', 's-2', 's-3'];
for (const id of ids) {
  gateway.session(id, {
    recovery: { maxDeliveries: 5 },
    onMessage: async ({ data: { key } }, turn) => {
      note('begun', key, turn.delivery);
      for (const step of [1, 2]) await turn.tool('work', 'step', { key, step });
      note('processed', key);
      say('processed', key, waiting());
    },
  });
}
await gateway.start();
void hold.call({});
say('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [session, key] = line.split(' ');
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
const busy = () => ids.some((id) => gateway.session(id).waiting > 0 || gateway.session(id).state !== 'idle');
while (busy()) await gateway.wait('session.turn_ended', { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
await gateway.stop();
