import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway, type Logger, systemClock } from '../../../../src/index.ts';
import { askRuntime } from '../../../../operator/client.ts';
import { openReader } from '../../../../reader/openReader.ts';
import { call } from '../../../cli/startCli.ts';
import { hasSqlite } from '../../../store/startStore.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { startServer } from '../startHttp.ts';

/** What a request is sent with, in every place; a server may repeat any of it. */
const planted = {
  own: 'own-authorization-of-the-api',
  base: 'key-in-the-query-of-the-base',
  header: 'key-in-a-header-of-the-call',
  bearer: 'bearer-of-the-call-itself',
  cookie: 'session-in-a-cookie',
  query: 'token-in-the-query-of-the-call',
  path: 'signature-in-the-path',
  unusual: 'plain words of a header called as nobody calls it',
  scheme: 'half-of-a-value',
  message: 'what the person asked the model',
  system: 'what the host told it to keep to itself',
} as const;
const everything = Object.values(planted);

const asText = (value: unknown): string =>
  inspect(value, {
    depth: Infinity,
    showHidden: true,
    maxArrayLength: null,
    maxStringLength: null,
    breakLength: Infinity,
  });

function expectNothingOf(text: string): void {
  expect(everything.filter((secret) => text.includes(secret))).toEqual([]);
}

const request = {
  method: 'POST',
  path: `things?sig=${planted.path}`,
  query: { token: planted.query },
  headers: {
    'X-Api-Key': planted.header,
    Authorization: `Bearer ${planted.bearer}`,
    Cookie: `theme=dark; sid=${planted.cookie}`,
  },
  body: { model: 'a-model', system: planted.system, messages: [{ role: 'user', content: `"${planted.message}"` }] },
};

describe.skipIf(!hasSqlite)('the secrets of requests', () => {
  it('[O-8] [Q-6] reach no way out, though the server repeats them: failures, events, log, records, sockets, commands', async () => {
    const server = await startServer((received, response) => {
      const isText = received.url?.startsWith('/text') === true;
      // Bare, so that nothing beside them says what they are.
      const query = [...new URL(received.url ?? '', 'http://x').searchParams.values()];
      const words = [...query, ...Object.values(received.headers)]
        .join(' ')
        .split(/[\s=]+/)
        .join(' ');
      const sent = `${words} ${planted.unusual} for ${String(received.headers['user-agent'])}`;
      const chunks: Buffer[] = [];
      received.on('data', (chunk: Buffer) => chunks.push(chunk));
      received.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        response.writeHead(isText ? 500 : 401, { 'set-cookie': `sid=${planted.cookie}` });
        response.end(
          isText
            ? `cannot parse ${JSON.stringify(body)} ${inspect(received.headers)}`
            : JSON.stringify({
                error: { message: `refused ${sent}, ${body}` },
                sent,
                body: body === '' ? {} : (JSON.parse(body) as unknown),
              }),
        );
      });
    });
    const directory = temporaryDirectory();
    const db = join(directory, 'events.sqlite');
    vi.stubEnv('XDG_RUNTIME_DIR', directory);
    const facts: unknown[] = [];
    const lines: unknown[] = [];
    const line = (message: string, fields?: object): void => void lines.push([message, fields]);
    const logger: Logger = { debug: line, info: line, warn: line, error: line };
    const stderr = vi.spyOn(process.stderr, 'write');
    const gateway = createGateway({ store: db, logger, alerts: { failures: 1 } });
    onTestFinished(() => gateway.stop());
    gateway.on('*', (fact) => facts.push(fact));
    const api = gateway.http('api', {
      baseUrl: `${server.url}/?api_key=${planted.base}`,
      headers: { authorization: planted.own, 'x-our-pass': planted.unusual, 'x-door': `Knock ${planted.scheme}` },
      policy: { maxAttempts: 1 },
    });
    await gateway.start();

    const outcomes = [
      await api.call(request),
      await api.call({ ...request, path: 'text' }),
      await api.call({ path: 'a' }, { label: `for ${planted.own} and ${planted.base}` }),
    ];
    expect(asText(outcomes)).toContain('HTTP 401 Unauthorized: refused [redacted]');
    expectNothingOf(asText(outcomes));
    await gateway.store?.flush();
    expect(facts).toContainEqual(expect.objectContaining({ type: 'call.failed' }));
    expectNothingOf(asText(facts));
    expect(lines.length).toBeGreaterThan(0);
    expectNothingOf(asText(lines));
    expectNothingOf(asText(stderr.mock.calls));

    const reader = await openReader(db);
    const [runtime] = await reader.runtimes();
    reader.close();
    for (const method of ['tree', 'status', 'inspect']) {
      expectNothingOf(asText(await askRuntime(runtime?.socket ?? '', method, undefined, { clock: systemClock })));
    }
    for (const words of [['status'], ['status', '--tree'], ['events', '--failed'], ['alerts']]) {
      const output = await call([...words, '--json', '--db', db], { now: () => Date.now() });
      expectNothingOf(output.stdout + output.stderr);
    }
    await gateway.stop();
    const files = readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isFile());
    const text = files.map(({ name }) => readFileSync(join(directory, name), 'latin1')).join('');
    expect(text).toContain('HTTP 401 Unauthorized');
    expectNothingOf(text);
  });
});
