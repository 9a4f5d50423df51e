// A gateway of the benchmark of take-overs: `node takeoverNode.js STORE SESSIONS`. It says `ready`, then takes lines from its stdin: `owned` is answered
// with the numbers of the sessions it owns, `send N…` has it send a message to each of these. It says `begun N` when it begins one.
import { createInterface } from 'node:readline';
import { createGateway } from '../../src/index.ts';

const [, , store = '', count = '1'] = process.argv;
const say = (...words: readonly unknown[]): void => void process.stdout.write(`${words.join(' ')}\n`);

const gateway = createGateway({ store, control: false });
const sessions = Array.from({ length: Number(count) }, (_, index) =>
  gateway.session(`agent:${index}`, {
    onMessage() {
      say('begun', index);
    },
  }),
);
await gateway.start();
say('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const [what, ...numbers] = line.split(' ');
  if (what === 'owned')
    say('owned', ...[...sessions.keys()].filter((index) => sessions[index]?.heldElsewhere === false));
  if (what === 'send') for (const index of numbers) void sessions[Number(index)]?.send({ kind: 'user' });
}
process.exit(0);
