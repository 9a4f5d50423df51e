import { createGateway } from 'unwedge';

const gateway = createGateway();
let attempts = 0;
gateway.integration('kb', { effect: 'readOnly' }, () => {
  if (++attempts < 3) throw new Error('gateway closed (1012): service restart');
  return `answered at attempt ${attempts}`;
});
const session = gateway.session('agent:main', { onMessage: (_message, turn) => turn.tool('kb', 'search') });
await gateway.start();
const accepted = await session.send({ kind: 'user', text: 'restart strategies' });
if (accepted.accepted) console.log(await accepted.processed);
await gateway.stop();
