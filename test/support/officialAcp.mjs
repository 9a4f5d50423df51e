import { Readable, Writable } from 'node:stream';
import { client, ndJsonStream } from '@agentclientprotocol/sdk';

/** The official client on the pipes of an agent; permissions get the option with this id. */
export function officialAcpClient({ stdin, stdout }, optionId = 'allow_once') {
  const updates = [];
  const connection = client({ name: 'test' })
    .onRequest('session/request_permission', () => ({ outcome: { outcome: 'selected', optionId } }))
    .onNotification('session/update', ({ params }) => void updates.push(params.update))
    .connect(ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout)));
  return { updates, connection, request: (method, params) => connection.agent.request(method, params) };
}
