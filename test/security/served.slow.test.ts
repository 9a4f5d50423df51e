import { execFileSync } from 'node:child_process';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { everything, makeServeHome, type ServeProcess, startServe } from '../cli/startServe.ts';
import { hasSqlite } from '../store/startStore.ts';

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A request as it is written: no client of ours smooths its path or its headers. */
function ask(served: ServeProcess, method: string, path: string, headers: object = {}, body?: string): Promise<Answer> {
  const { hostname, port } = new URL(served.origin);
  const shown = { authorization: `Bearer ${served.token}`, 'content-type': 'application/json', ...headers };
  return new Promise((resolve, reject) => {
    const asking = httpRequest({ hostname, port, method, path, headers: shown }, (response) => {
      void textOf(response).then((read) =>
        resolve({ status: response.statusCode, headers: response.headers, body: read }),
      );
    });
    asking.on('error', reject);
    asking.end(body);
  });
}

const sessions = '/v1/sessions';
const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
const evil = { server: 'everything', name: 'echo', arguments: { message: 'x' } };

describe.skipIf(!hasSqlite)('a served gateway', () => {
  it('[Q-6] is itself after every request that a hostile neighbour can think of', async () => {
    const served = await startServe(makeServeHome({ mcpServers: { everything } }), {
      PLANTED_API_KEY: 'planted-secret-value',
    });
    expect(await ask(served, 'POST', sessions, {}, '{"id":"one"}')).toMatchObject({ status: 201 });
    const messages = `${sessions}/serve:one/messages`;
    const attacks: readonly (readonly [
      status: number,
      ...request: Parameters<typeof ask> extends [unknown, ...infer R] ? R : never,
    ])[] = [
      // DNS rebinding and requests of other sites, which no token of a browser's makes good.
      [403, 'GET', sessions, { host: 'evil.example' }],
      [403, 'GET', sessions, { host: `127.0.0.1.evil.example:${new URL(served.origin).port}` }],
      [403, 'POST', sessions, { origin: 'https://evil.example' }, '{}'],
      [403, 'POST', sessions, { origin: 'null' }, '{}'],
      [403, 'POST', sessions, { 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain' }, '{}'],
      [401, 'GET', sessions, { authorization: 'Bearer x' }],
      [401, 'GET', sessions, { authorization: '' }],
      // Paths.
      [400, 'GET', `${sessions}/../../../../etc/passwd`],
      [400, 'GET', '/%2e%2e/%2E./etc/passwd'],
      [404, 'GET', `${sessions}/..%2f..%2fetc%2fpasswd/history`],
      [404, 'GET', `${sessions}/%E0%A4%A/history`],
      [404, 'GET', `${sessions}/a%00b/history`],
      [404, 'GET', `${sessions}/a%0d%0aSet-Cookie:%20x=1/history`],
      [400, 'GET', '//evil.example/v1/sessions'],
      [400, 'GET', 'http://evil.example/'],
      // Keys of every object, and what nests.
      [400, 'POST', sessions, {}, '{"__proto__":{"id":"x"}}'],
      [400, 'POST', messages, {}, '{"text":"x","agent":"constructor"}'],
      [400, 'POST', messages, {}, '{"tool":{"server":"__proto__","name":"x"}}'],
      [400, 'POST', messages, {}, `{"text":${deep(200_000)}}`],
      [400, 'POST', messages, {}, `{"tool":{"server":"everything","name":"x","arguments":{"a":${deep(7000)}}}}`],
    ];
    for (const [status, ...request] of attacks) {
      const { status: got, headers, body } = await ask(served, ...request);
      expect
        .soft([request[0], request[1].slice(0, 80), request[2], got])
        .toEqual([request[0], request[1].slice(0, 80), request[2], status]);
      expect.soft([headers['set-cookie'], /root:|planted-secret/.test(body)]).toEqual([undefined, false]);
    }
    // A body that says it is compressed is taken for what it is, not unpacked.
    expect((await ask(served, 'POST', messages, { 'content-encoding': 'gzip' }, '{"text":"x"}')).status).not.toBe(500);
    expect(await ask(served, 'POST', `${messages}?wait=20s`, {}, JSON.stringify({ tool: evil }))).toMatchObject({
      status: 200,
    });
    expect(await ask(served, 'GET', '/readyz')).toMatchObject({ status: 200 });
    // What a neighbour sees in the list of processes.
    const seen = execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(served.child.pid)], { encoding: 'utf8' });
    expect(seen).not.toContain(served.token);
    expect(served.stderr()).not.toMatch(/ at .*\(file:|planted-secret/);
  });
});
