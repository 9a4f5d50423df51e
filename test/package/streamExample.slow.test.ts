import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { transformSync } from 'rolldown/utils';
import { describe, expect, it, onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const example = readFileSync(`${root}/examples/stream.ts`, 'utf8');

/** The example in front of an upstream that answers as the test says. */
async function startExample(answer: (response: ServerResponse, requests: number) => void, idleMs = 60_000) {
  let requests = 0;
  let left = (): void => undefined;
  const clientLeft = new Promise<void>((resolve) => {
    left = resolve;
  });
  const upstream = createServer((_, response) => {
    response.on('close', () => left());
    answer(response, ++requests);
  }).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  // Beside the sources, so that it finds the package by its name.
  const directory = `${root}/.build/example-${process.pid}`;
  mkdirSync(directory, { recursive: true });
  writeFileSync(`${directory}/stream.mjs`, transformSync('stream.ts', example).code);
  const { port } = upstream.address() as AddressInfo;
  const env = { ...process.env, UPSTREAM: `http://127.0.0.1:${port}`, PORT: '0', IDLE_MS: String(idleMs) };
  const host = spawn(process.execPath, [`${directory}/stream.mjs`], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(host, 'exit');
  onTestFinished(async () => {
    host.kill('SIGKILL');
    await exited;
    upstream.closeAllConnections();
    upstream.close();
    rmSync(directory, { recursive: true });
  });
  const lines = createInterface({ input: host.stdout });
  let said = '';
  while (!said.includes('port:')) said += ((await once(lines, 'line')) as [string])[0];
  const url = `http://127.0.0.1:${/port: (\d+)/.exec(said)?.[1]}/?prompt=hi`;
  const stop = async (): Promise<unknown[]> => {
    host.kill('SIGTERM');
    return exited;
  };
  return { url, clientLeft, stop, requests: () => requests };
}

const begins = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(delta);
};
const delta = 'event: content_block_delta\ndata: {"text":"a"}\n\n';
const last = 'event: message_stop\ndata: {}\n\n';
const overloaded = 'event: error\ndata: {"error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';

describe('examples/stream.ts', () => {
  it('[R-13] is what docs/streams.md shows, in under 40 lines', () => {
    expect(readFileSync(`${root}/docs/streams.md`, 'utf8')).toContain(`\`\`\`ts\n${example}\`\`\``);
    expect(example.split('\n').length).toBeLessThan(40);
  });

  it('[R-13] hands an answer on, and stops in good order', async () => {
    const { url, stop } = await startExample((response) => {
      begins(response);
      response.end(last);
    });
    expect(await (await fetch(url)).text()).toBe(delta + last);
    expect(await stop()).toEqual([0, null]);
  });

  it('[R-13] tries again before the first byte, and not after it: the client sees a cut', async () => {
    const { url, requests } = await startExample((response, count) => {
      if (count === 1) response.writeHead(503, { 'retry-after-ms': '0' }).end();
      else {
        begins(response);
        response.write('', () => response.destroy());
      }
    });
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow('terminated');
    expect(requests()).toBe(2);
  });

  it.each([
    ['an error', overloaded],
    ['no last event', ''],
  ])('[R-13] [R-14] cuts an answer that ends with %s', async (_, end) => {
    const { url } = await startExample((response) => {
      begins(response);
      response.end(end);
    });
    const read = async (): Promise<string> => (await fetch(url)).text();
    // Cut that early, the answer may not even have its headers.
    await expect(read()).rejects.toThrow(/terminated|fetch failed/);
  });

  it('[R-13] [I-1] ends an answer that falls silent', async () => {
    const { url } = await startExample(begins, 200);
    await expect((await fetch(url)).text()).rejects.toThrow('terminated');
  });

  it('[R-13] answers with a status what fails before its first byte', async () => {
    const { url } = await startExample((response) => response.writeHead(401).end());
    expect((await fetch(url)).status).toBe(502);
  });

  it('[R-13] [R-8] lets go of its upstream when the client leaves', async () => {
    const { url, clientLeft } = await startExample(begins);
    const client = new AbortController();
    const answer = await fetch(url, { signal: client.signal });
    await answer.body?.getReader().read();
    client.abort();
    await expect(clientLeft).resolves.toBeUndefined();
  });
});
