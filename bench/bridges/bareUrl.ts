// The least that offers a server at an address on stdio: `bareUrl.js URL`. Each line is a POST, each answer a line.
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';

const url = new URL(process.argv[2] ?? '');
const agent = new Agent({ keepAlive: true });
const about = { method: 'POST', host: url.hostname, port: url.port, path: url.pathname, agent };

const input = createInterface({ input: process.stdin });
input.on('line', (line) => {
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(line),
    accept: 'application/json, text/event-stream',
  };
  const asked = request({ ...about, headers }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('end', () => {
      if (chunks.length > 0) process.stdout.write(Buffer.concat([...chunks, Buffer.from('\n')]));
    });
  });
  asked.end(line);
});
input.on('close', () => process.exit(0));
