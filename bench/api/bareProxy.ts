// What a reverse proxy of Node costs that does nothing: `bareProxy.js UPSTREAM`.
import { Agent, createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';

const upstream = process.argv[2] ?? '';
const agent = new Agent({ keepAlive: true });

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const { method, url = '/', headers } = request;
  const forwarded = ask(`${upstream}${url}`, { method, headers, agent }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  forwarded.on('error', () => response.destroy());
  request.pipe(forwarded);
});
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }));
});
