import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type AlertOptions, createGateway, type GatewayOptions } from '../../../src/index.ts';
import { alertText } from '../../../src/policy/records/alertText.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { failed, hasSqlite, startStore } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url));
const noRetry = { retry: { maxAttempts: 1 } };

/** A gateway with an integration `kb` that fails, `times` of which raise an alert. */
async function startGateway(alerts: AlertOptions | false | undefined, options: GatewayOptions = {}) {
  const gateway = createGateway({ alerts, ...options });
  onTestFinished(() => gateway.stop());
  const kb = gateway.integration('kb', { policy: noRetry }, () => {
    throw Object.assign(new Error('down'), { code: 'ECONNRESET' });
  });
  await gateway.start();
  const fail = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time++) await kb.call(undefined);
  };
  return { gateway, kb, fail };
}

/** A server that hands each request to `answer`. */
async function startServer(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
}

describe('an alert of a gateway', () => {
  it.skipIf(!hasSqlite)('[O-10] is raised by the rate of the calls that are counted, and kept as that', async () => {
    const store = { path: join(temporaryDirectory(), 'db') };
    const { gateway, fail } = await startGateway({ failures: 100, successBelow: 0.9, minCalls: 3 }, { store });
    const raised = gateway.wait('alert.raised');
    await fail(3);
    // Figures are handed out every 10 s, and where they are asked for.
    await gateway.report();
    const alert = { integration: 'kb', because: 'rate', failures: 3, kind: 'transient' };
    expect(await raised).toMatchObject(alert);
    await gateway.store?.flush();
    expect(await gateway.store?.alerts.open()).toMatchObject([alert]);
  });

  it('[O-3] is raised by an upstream that stays down, whose calls end as their circuit opens and is probed in vain', async () => {
    const clock = new SimulatedClock();
    const gateway = createGateway({ clock, control: false });
    onTestFinished(() => gateway.stop());
    const kb = gateway.integration('kb', {}, () => {
      throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' });
    });
    await gateway.start();
    const raised: string[] = [];
    gateway.on('alert.raised', ({ kind, message }) => raised.push(`${kind}: ${message}`));
    const kinds: string[] = [];
    // Two use up the attempts that open the circuit, each of the others is a probe.
    for (let call = 0; call < 5; call++) {
      const outcome = kb.call({});
      await clock.advance(65_000);
      const ended = await outcome;
      kinds.push(ended.ok ? 'ok' : ended.failure.kind);
    }
    expect(kinds).toEqual(['transient', ...Array<string>(4).fill('circuit_open')]);
    expect(raised).toEqual(['transient: its circuit is open, for 1m10s now: down']);
  });

  it('[O-3] is not raised by a circuit that an operator holds open, though failures had opened it', async () => {
    const clock = new SimulatedClock();
    const gateway = createGateway({ clock, control: false });
    onTestFinished(() => gateway.stop());
    const kb = gateway.integration('kb', {}, () => {
      throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' });
    });
    await gateway.start();
    const raised: string[] = [];
    gateway.on('alert.raised', ({ message }) => raised.push(message));
    const opened = gateway.wait('breaker.opened');
    const calls = [kb.call({}), kb.call({})];
    await clock.advance(65_000);
    await Promise.all([opened, ...calls]);
    kb.breaker.isolate();
    for (let minute = 0; minute < 10; minute++) {
      expect(await kb.call({})).toMatchObject({ failure: { kind: 'circuit_open' } });
      await clock.advance(60_000);
    }
    expect(raised).toEqual([]);
  });

  it('[O-3] is told to subscribers at the fifth final failure, and cleared when the circuit closes', async () => {
    const { gateway, kb, fail } = await startGateway(undefined);
    const raised = gateway.wait('alert.raised');
    await fail(5);
    expect(await raised).toMatchObject({ integration: 'kb', failures: 5, kind: 'transient' });
    const cleared = gateway.wait('alert.cleared');
    kb.breaker.reset();
    expect(await cleared).toMatchObject({ alert: (await raised).alert, by: 'closed' });
  });

  it('[O-3] stays open while its circuit refuses calls, and is cleared by the call that closes it', async () => {
    const clock = new SimulatedClock();
    const gateway = createGateway({ clock, control: false, alerts: { failures: 1 } });
    onTestFinished(() => gateway.stop());
    let down = true;
    const policy = { ...noRetry, breaker: { consecutiveFailures: 1, resetTimeoutMs: '1h' } } as const;
    const kb = gateway.integration('kb', { policy }, () => {
      if (down) throw Object.assign(new Error('down'), { code: 'ECONNRESET' });
      return 'fine';
    });
    await gateway.start();
    const told: string[] = [];
    gateway.on('alert.cleared', ({ by }) => told.push(by));
    for (let minutes = 0; minutes < 60; minutes++) {
      await kb.call(undefined);
      await clock.advance(60_000);
    }
    expect(told).toEqual([]);
    down = false;
    const probe = kb.call(undefined);
    await clock.advance(1000);
    expect((await probe).ok).toBe(true);
    expect(told).toEqual(['closed']);
  });

  it('[O-3] is cleared where nobody calls any more, and says that its circuit is open', async () => {
    const clock = new SimulatedClock();
    const lines: string[] = [];
    const gateway = createGateway({ clock, control: false, alerts: { failures: 1 } });
    onTestFinished(() => gateway.stop());
    const policy = { ...noRetry, breaker: { consecutiveFailures: 1 } };
    const kb = gateway.integration('kb', { policy }, () => {
      throw Object.assign(new Error('down'), { code: 'ECONNRESET' });
    });
    await gateway.start();
    gateway.on('alert.cleared', (news) => lines.push(alertText(news)));
    await kb.call(undefined);
    expect(kb.breaker.state).toBe('open');
    await clock.advance(10 * 60_000);
    expect(lines).toEqual([
      expect.stringContaining('it has been quiet, though its circuit is open: no call has come since'),
    ]);
  });

  it('[O-3] says the exit code of a command', async () => {
    const gateway = createGateway({ alerts: { failures: 1 } });
    onTestFinished(() => gateway.stop());
    const command = gateway.subprocess('tests', { command: 'sh', policy: { maxAttempts: 1 } });
    await gateway.start();
    const silent = gateway.wait('alert.raised');
    await command.call({ args: ['-c', 'exit 3'] });
    expect(await silent).toMatchObject({ integration: 'tests', message: 'sh failed with exit code 3.' });
  });

  it('[O-3] adds the exit code of a command to what it printed', async () => {
    const gateway = createGateway({ alerts: { failures: 1 } });
    onTestFinished(() => gateway.stop());
    const command = gateway.subprocess('tests', { command: 'sh', policy: { maxAttempts: 1 } });
    await gateway.start();
    const raised = gateway.wait('alert.raised');
    await command.call({ args: ['-c', 'echo 2 of 9 failed >&2; exit 3'] });
    expect(await raised).toMatchObject({ integration: 'tests', message: '2 of 9 failed (exit code 3)' });
  });

  describe.skipIf(!hasSqlite)('after an earlier run', () => {
    const { failure } = failed(1);
    const own = { ...failure, kind: 'circuit_open', message: 'open', attempts: 1, cause: failure } as const;

    it.each([
      ["does not count what that recorded as nobody's failure", { ...failure, alerts: false }, 5, failure],
      ['counts what that recorded of calls that ended by their own circuit', own, 4, undefined],
    ] as const)('[O-3] [I-3] [O-9] %s', async (_, first, times, then) => {
      const { store, path } = await startStore();
      const at = Date.now();
      for (let count = 0; count < times; count++) store.record(failed(count, { at, failure: first }));
      for (let count = 0; then !== undefined && count < 4; count++) store.record(failed(count, { at, failure: then }));
      await store.flush();
      await store.close();
      const { gateway, fail } = await startGateway(undefined, { store: path });
      const raised = gateway.wait('alert.raised');
      await fail(1);
      expect(await raised).toMatchObject({ failures: 5 });
    });
  });

  it('[O-3] is not raised where alerts are switched off', async () => {
    const { gateway, fail } = await startGateway(false);
    const types: string[] = [];
    gateway.on('*', ({ type }) => types.push(type));
    await fail(9);
    expect(types.filter((type) => type.startsWith('alert.'))).toEqual([]);
  });

  it.skipIf(!hasSqlite)('[O-3] says where it comes from, how long it lasts and what to type next', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const { gateway, kb, fail } = await startGateway({ failures: 1, quietMs: 90_000 }, { store });
    const raised = gateway.wait('alert.raised');
    const cleared = gateway.wait('alert.cleared');
    await fail(1);
    const origin = { host: hostname(), pid: process.pid, gateway: basename(process.argv[1] ?? ''), database: store };
    expect(await raised).toMatchObject({ ...origin, quietMs: 90_000, next: `unwedge why kb --db ${store}` });
    kb.breaker.isolate()();
    expect(await cleared).toMatchObject(origin);
    await gateway.store?.flush();
    // The database and the process stand with every record of theirs.
    const [record] = (await gateway.store?.read({ category: 'alert', limit: 1 })) ?? [];
    const { host, gateway: name } = origin;
    expect(Object.keys(record?.metadata ?? {})).not.toContain('next');
    expect(record?.metadata).toMatchObject({ host, gateway: name, runtime_pid: process.pid });
  });

  it('[O-3] names no command where its store is in memory: none could look into that', async () => {
    const { gateway, fail } = await startGateway({ failures: 1 });
    const raised = gateway.wait('alert.raised');
    await fail(1);
    expect(Object.keys(await raised)).toEqual(expect.arrayContaining(['host', 'pid', 'gateway']));
    expect(await raised).not.toHaveProperty('database');
    expect(await raised).not.toHaveProperty('next');
  });

  it('[O-3] is given to a command as JSON on its stdin, its arguments through no shell', async () => {
    const file = join(temporaryDirectory(), 'alert.json');
    const script = `import { createWriteStream } from 'node:fs';
      process.stdin.pipe(createWriteStream(process.argv[1])).on('close', () => console.log(process.argv[2]));`;
    const { gateway, fail } = await startGateway({
      failures: 1,
      command: { command: process.execPath, args: ['--input-type=module', '-e', script, file, '$(id) ; `id`'] },
    });
    const delivered = gateway.wait('call.succeeded', { where: ({ integration }) => integration === 'alert:command' });
    const raised = gateway.wait('alert.raised');
    await fail(1);
    await delivered;
    const news = await raised;
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ ...news, text: alertText(news) });
  });

  it('[O-3] is posted to a webhook as JSON, tried again after an answer that says so', async () => {
    const bodies: unknown[] = [];
    const url = await startServer((request, response) => {
      void text(request).then((body) => {
        bodies.push({ method: request.method, type: request.headers['content-type'], of: request.headers['x-of'] });
        bodies.push(JSON.parse(body));
        response.writeHead(bodies.length > 2 ? 204 : 503, { 'retry-after-ms': '0' }).end();
      });
    });
    const { gateway, fail } = await startGateway({ failures: 1, webhook: { url, headers: { 'x-of': 'me' } } });
    const delivered = gateway.wait('call.succeeded', { where: ({ integration }) => integration === 'alert:webhook' });
    const raised = gateway.wait('alert.raised');
    await fail(1);
    await delivered;
    const request = { method: 'POST', type: 'application/json', of: 'me' };
    const news = await raised;
    const body = { ...news, text: alertText(news) };
    expect(bodies).toEqual([request, body, request, body]);
  });

  it.each([
    ['cut', 'content-length: 100\r\n\r\nok'],
    ['malformed', 'transfer-encoding: chunked\r\n\r\nno chunk\r\n'],
  ])('[O-3] [R-14] has arrived with the status of a webhook, though its body is %s', async (_, rest) => {
    let posts = 0;
    const url = await startServer((_request, { socket }) => {
      posts++;
      socket?.end(`HTTP/1.1 200 OK\r\n${rest}`);
    });
    const { gateway, fail } = await startGateway({ failures: 1, webhook: { url } });
    const where = ({ integration }: { integration: string }) => integration === 'alert:webhook';
    const ended = Promise.race([gateway.wait('call.succeeded', { where }), gateway.wait('call.failed', { where })]);
    await fail(1);
    expect(await ended).toMatchObject({ type: 'call.succeeded', attempts: 1 });
    expect(posts).toBe(1);
  });

  it('[O-3] [Q-6] is not sent on to where a webhook redirects: its headers may be for that address alone', async () => {
    const asked: string[] = [];
    const other = await startServer((request, response) => {
      asked.push(String(request.headers['x-api-key']));
      response.end();
    });
    const url = await startServer((_request, response) => void response.writeHead(302, { location: other }).end());
    const webhook = { url, headers: { 'x-api-key': 'of the first' } };
    const { gateway, fail } = await startGateway({ failures: 1, webhook });
    const undelivered = gateway.wait('alert.undelivered');
    await fail(1);
    expect((await undelivered).error).toContain('HTTP 302 Found: redirects are not followed');
    expect(asked).toEqual([]);
  });

  it('[O-3] mentions nobody in a chat, and hides no link, by what an upstream has said', async () => {
    const texts: string[] = [];
    const url = await startServer((request, response) => {
      void text(request).then((body) => texts.push((JSON.parse(body) as { text: string }).text));
      response.end();
    });
    const gateway = createGateway({ alerts: { failures: 1, webhook: { url } } });
    onTestFinished(() => gateway.stop());
    const kb = gateway.integration('kb', { policy: noRetry }, () => {
      throw new Error('<!channel> @here <https://evil.example|click>');
    });
    await gateway.start();
    const delivered = gateway.wait('call.succeeded', { where: ({ integration }) => integration === 'alert:webhook' });
    await kb.call(undefined);
    await delivered;
    expect(texts).toEqual([expect.stringContaining('last: ‹!channel› ＠here ‹https://evil.example|click› (')]);
  });

  it('[O-3] that does not arrive is told, and raises no alert of its own', async () => {
    const url = await startServer((_request, response) => void response.writeHead(401).end());
    const { gateway, kb, fail } = await startGateway({ failures: 1, webhook: { url } });
    const raised: string[] = [];
    gateway.on('alert.raised', ({ integration }) => raised.push(integration));
    for (let episode = 0; episode < 3; episode++) {
      const undelivered = gateway.wait('alert.undelivered');
      await fail(1);
      expect(await undelivered).toMatchObject({ integration: 'kb', to: 'webhook', error: 'HTTP 401 Unauthorized' });
      const cleared = gateway.wait('alert.undelivered');
      kb.breaker.isolate()();
      await cleared;
    }
    expect(raised).toEqual(['kb', 'kb', 'kb']);
  });

  it.skipIf(!hasSqlite)('[O-3] that a stop has cut is sent by the next start while it is open, and once', async () => {
    const store = join(temporaryDirectory(), 'db');
    const got: { alert: string; type: string; text: string }[] = [];
    let answers = false;
    let asked = (): void => undefined;
    const first = new Promise<void>((resolve) => (asked = resolve));
    const url = await startServer((request, response) => {
      asked();
      if (!answers) return;
      void text(request).then((body) => got.push(JSON.parse(body) as (typeof got)[number]));
      response.end();
    });
    const rules = { failures: 1, webhook: { url } };
    const before = await startGateway(rules, { store, control: false });
    const raised = before.gateway.wait('alert.raised');
    await before.fail(1);
    await first;
    void before.gateway.stop();
    // The second one cuts it.
    await before.gateway.stop();
    answers = true;
    const { gateway } = await startGateway(rules, { store, control: false });
    const { alert } = await raised;
    const late = { alert, integration: 'kb', to: 'webhook' };
    await expect
      .poll(async () => (await gateway.store?.read({ category: 'alert', limit: 9 }))?.at(-1))
      .toMatchObject({ type: 'delivered_late', metadata: late });
    await gateway.stop();
    const line = expect.stringContaining('Alert: kb failed 1 time') as string;
    expect(got).toMatchObject([{ alert, type: 'alert.raised', text: line }]);
    const after = await startGateway(rules, { store, control: false });
    await after.gateway.stop();
    expect(got).toHaveLength(1);
  });

  it('[O-3] [I-3] to a command that hangs is given up at its limit, and nothing is left', async () => {
    const { gateway, fail } = await startGateway({
      failures: 1,
      command: { command: process.execPath, args: [fixture('silent.mjs')], attemptMs: 500 },
    });
    const exited = gateway.wait('process.exited');
    const undelivered = gateway.wait('alert.undelivered');
    await fail(1);
    expect(await undelivered).toMatchObject({ to: 'command', error: expect.stringContaining('500ms') as string });
    expect(await exited).toMatchObject({ process: 'process:alert:command:1' });
  });

  it.skipIf(process.platform === 'win32')(
    '[O-3] [I-3] to a command that will not end holds a stop for 3 s, and 1 s more to be killed',
    async () => {
      const clock = new SimulatedClock();
      const directory = temporaryDirectory();
      const [ready, told] = [join(directory, 'ready'), join(directory, 'told')];
      const script = `const { writeFileSync } = require('node:fs');
      process.on('SIGTERM', () => writeFileSync(process.argv[2], ''));
      setInterval(() => {}, 1e6);
      writeFileSync(process.argv[1], '');`;
      const command = { command: process.execPath, args: ['-e', script, ready, told] };
      const { gateway, fail } = await startGateway({ failures: 1, command }, { clock });
      const exited = gateway.wait('process.exited');
      await fail(1);
      await vi.waitUntil(() => existsSync(ready), { timeout: 60_000 });
      const stopped = gateway.stop();
      await clock.advance(2999);
      expect(existsSync(told)).toBe(false);
      await clock.advance(1);
      await vi.waitUntil(() => existsSync(told), { timeout: 60_000 });
      await clock.advance(1000);
      await stopped;
      expect(await exited).toMatchObject({ process: 'process:alert:command:1', signal: 'SIGKILL' });
    },
  );

  it.each([{}, { path: true }])(
    '[O-3] that is on its way when its gateway stops arrives, tried again as well: %j',
    async ({ path }) => {
      const store = path === true && hasSqlite ? { path: join(temporaryDirectory(), 'db') } : undefined;
      let posts = 0;
      const url = await startServer((_request, response) => {
        posts++;
        response.writeHead(posts > 1 ? 204 : 503, { 'retry-after-ms': '20' }).end();
      });
      const { gateway, fail } = await startGateway({ failures: 1, webhook: { url } }, store && { store });
      const ends: string[] = [];
      gateway.on('*', ({ type, ...fact }) => {
        if (type === 'alert.undelivered' || ('integration' in fact && fact.integration === 'alert:webhook'))
          ends.push(type);
      });
      await fail(1);
      await gateway.stop();
      expect(posts).toBe(2);
      expect(ends.filter((type) => /succeeded|failed|undelivered/.test(type))).toEqual(['call.succeeded']);
    },
  );

  it('[O-3] that would be tried again after a stop has ended is told as undelivered, by what it failed with', async () => {
    const url = await startServer((_request, response) => void response.writeHead(503, { 'retry-after': '60' }).end());
    const { gateway, fail } = await startGateway({ failures: 1, webhook: { url } });
    const undelivered = gateway.wait('alert.undelivered');
    const waits = gateway.wait('call.retried', { where: ({ integration }) => integration === 'alert:webhook' });
    await fail(1);
    await waits;
    await gateway.stop();
    expect(await undelivered).toMatchObject({ error: expect.stringContaining('HTTP 503') as string });
  });

  it('[O-3] is cut by a second stop', async () => {
    const clock = new SimulatedClock();
    const url = await startServer(() => undefined);
    const { gateway, fail } = await startGateway({ failures: 1, webhook: { url } }, { clock });
    const undelivered = gateway.wait('alert.undelivered');
    await fail(1);
    void gateway.stop();
    await gateway.stop();
    expect(await undelivered).toMatchObject({ error: 'alert:webhook is stopped' });
  });

  it('[O-3] [I-3] keeps a gateway no longer than its stop', async () => {
    const url = await startServer(() => undefined);
    const { gateway, fail } = await startGateway({ failures: 1, webhook: { url } });
    const raised = gateway.wait('alert.raised');
    await fail(1);
    await raised;
    const before = performance.now();
    await gateway.stop();
    expect(performance.now() - before).toBeLessThan(9_000);
  });

  it.skipIf(!hasSqlite)('[O-3] survives a restart: it is told once, and cleared by the next run', async () => {
    const store = join(temporaryDirectory(), 'events.sqlite');
    const first = await startGateway(undefined, { store });
    const raised = first.gateway.wait('alert.raised');
    await first.fail(5);
    const { alert } = await raised;
    await first.gateway.stop();

    const second = await startGateway(undefined, { store });
    const told: string[] = [];
    second.gateway.on('*', (fact) => fact.type.startsWith('alert.') && told.push(fact.type));
    const cleared = second.gateway.wait('alert.cleared');
    second.kb.breaker.reset();
    expect((await cleared).alert).toBe(alert);
    expect(told).toEqual(['alert.cleared']);
  });

  it.skipIf(!hasSqlite)('[O-3] that is cleared is not raised again by the first failure of the next run', async () => {
    const store = join(temporaryDirectory(), 'events.sqlite');
    const first = await startGateway(undefined, { store });
    await first.fail(5);
    const cleared = first.gateway.wait('alert.cleared');
    first.kb.breaker.reset();
    await cleared;
    await first.gateway.stop();

    const second = await startGateway(undefined, { store });
    const told: string[] = [];
    second.gateway.on('alert.raised', ({ failures }) => told.push(`raised by ${failures}`));
    await second.fail(4);
    await second.gateway.store?.flush();
    expect(told).toEqual([]);
    const raised = second.gateway.wait('alert.raised');
    await second.fail(1);
    expect(await raised).toMatchObject({ failures: 5 });
  });

  it.each([
    [
      { webhook: { url: 'ftp://x' } },
      'Expected `alerts.webhook.url` to be an http or https address, got a string that is not shown',
    ],
    [
      { webhook: { url: 'not-a-url-secret' } },
      'Expected `alerts.webhook.url` to be an http or https address, got a string that is not shown',
    ],
    [{ webhook: { url: 'http://x', attemptMs: 0 } }, 'Expected `alerts.webhook.attemptMs` to be a duration'],
    [
      { webhook: { url: 'http://x', headers: { a: 5 } } },
      'Expected `alerts.webhook.headers.a` to be a string, got a number that is not shown',
    ],
    [{ webhook: { url: 'http://u@x' } }, 'Expected `alerts.webhook.url` to be without user and password'],
    [
      { webhook: { url: 'http://x', headers: null } },
      'Expected `alerts.webhook.headers` to be an object of strings, got null',
    ],
    [
      { webhook: { url: 'http://x', headers: { 'a b': 'c' } } },
      'Expected `alerts.webhook.headers["a b"]` to be a header',
    ],
    [{ command: null }, 'Expected `alerts.command` to be an object, got null'],
    [{ command: { command: '' } }, 'Expected `alerts.command.command` to be a non-empty string'],
    [{ command: { command: 'x', args: 'y' } }, 'Expected `alerts.command.args` to be an array of strings'],
    [{ command: { command: 'x', argv: [] } }, 'did you mean args?'],
    [{ comand: {} }, 'did you mean command?'],
    [{ failures: 1.5 }, 'Expected `alerts.failures` to be a positive integer'],
  ])('[O-3] names an option that makes no sense: %o', (alerts, message) => {
    expect(() => createGateway({ alerts: alerts as AlertOptions })).toThrow(message);
  });
});
