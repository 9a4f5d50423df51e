// The least that offers a server on stdio by HTTP: `bareListen.js PORT COMMAND ARGS`. It reads a message for its id alone, and has one session.
import { spawn } from 'node:child_process';
import { createServer, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { idOf } from '../mcp/client.ts';

const [port, program = '', ...words] = process.argv.slice(2);
const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = new Map<number, ServerResponse>();

createInterface({ input: child.stdout }).on('line', (line) => {
  const id = idOf(line) ?? -1;
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(line) };
  waiting.get(id)?.writeHead(200, headers).end(line);
  waiting.delete(id);
});

createServer((request, response) => {
  const chunks: string[] = [];
  request.setEncoding('utf8');
  request.on('data', (chunk: string) => chunks.push(chunk));
  request.on('end', () => {
    const message = chunks.join('');
    const id = idOf(message);
    child.stdin.write(`${message}\n`);
    if (id === undefined) response.writeHead(202).end();
    else waiting.set(id, response);
  });
}).listen(Number(port), '127.0.0.1');

process.on('SIGTERM', () => {
  child.kill();
  process.exit(0);
});
