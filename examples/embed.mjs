import { createGateway } from 'unwedge';

const gateway = createGateway({ store: ':memory:' });

let attempts = 0;
gateway.integration('kb', { effect: 'readOnly' }, () => {
  attempts++;
  if (attempts < 3) throw new Error('gateway closed (1012): service restart');
  return ['supervision trees'];
});
gateway.on('call.retried', ({ integration, message, delayMs }) => {
  console.log(`${integration}: ${message}; trying again in ${delayMs} ms`);
});

const session = gateway.session('agent:main', {
  onMessage: (message, turn) => turn.tool('kb', 'search', { query: message.text }),
});

await gateway.start();
const accepted = await session.send({ kind: 'user', text: 'restart strategies' });
if (accepted.accepted) console.log(JSON.stringify(await accepted.processed));
await gateway.stop();
