import { writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Frame } from '../../../web/dashboard/changes.ts';
import type { EventPage } from '../../../web/dashboard/eventPages.ts';
import type { DashboardServerOptions } from '../../../web/dashboard/server.ts';
import type { Snapshot } from '../../../web/dashboard/snapshot.ts';
import { call } from '../../cli/startCli.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { parseOpenMetrics } from '../../support/openMetrics.ts';
import { sourceOf, startDashboard, startGateway } from './startDashboard.ts';

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

type Send = (path: string, given?: { headers?: Record<string, string>; body?: unknown }) => Promise<Answer>;

/** Asks as a program does, that sends what headers it likes. */
function sender(port: number): Send {
  return (path, { headers = {}, body } = {}) =>
    new Promise((resolve, reject) => {
      const method = body === undefined ? 'GET' : 'POST';
      const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
      const request = httpRequest({ port, path, method, headers: { ...type, ...headers } }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += String(chunk)));
        response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body: text }));
      });
      request.on('error', reject);
      request.end(body === undefined ? undefined : JSON.stringify(body));
    });
}

async function start(options: Partial<DashboardServerOptions> = {}, names?: readonly string[]) {
  const gateway = await startGateway(names);
  const server = await startDashboard(gateway.path, options);
  const send = sender(server.port);
  const token = new URL(server.url).hash.replace('#token=', '');
  const login = async (): Promise<string> => {
    const { headers } = await send('/login', { body: { token } });
    return String((headers['set-cookie'] as string[])[0]).split(';', 1)[0] ?? '';
  };
  return { ...gateway, server, send, token, login };
}

const paths = [
  ...['/api/snapshot', '/api/stream', '/api/session?id=agent:main', '/api/events', '/api/trees', '/api/cluster'],
  '/api/chain?id=1',
];

describe.skipIf(!hasSqlite)('who the dashboard answers', () => {
  it('[O-13] is nobody without the cookie, whatever is asked', async () => {
    const { send } = await start();
    for (const path of paths) expect([path, (await send(path)).status]).toEqual([path, 403]);
    const body = { order: 'restart', name: 'search', confirm: 'search' };
    expect((await send('/api/order', { body })).status).toBe(403);
  });

  it('[O-13] is who has shown the token, which is good once, and gets a cookie that scripts and other sites cannot use', async () => {
    const { send, token, server } = await start();
    const first = await send('/login', { body: { token } });
    expect([first.status, String(first.headers['set-cookie'])]).toEqual([
      200,
      expect.stringMatching(/^unwedge_dashboard_\d+=[\w-]{24}; Path=\/; HttpOnly; SameSite=Strict$/),
    ]);
    expect((await send('/login', { body: { token } })).status).toBe(403);
    expect(server.url).not.toContain(token);
  });

  it.each(['', 'AAAAAAAAAAAAAAAAAAAAAAAA', 'x'])('[O-13] is not who shows the token %j', async (token) => {
    const { send } = await start();
    const { status, headers } = await send('/login', { body: { token } });
    expect([status, headers['set-cookie']]).toEqual([403, undefined]);
  });

  it('[O-13] [Q-6] is no page of another site and no other host, though the cookie is right', async () => {
    const { send, login, server } = await start();
    const cookie = await login();
    for (const path of paths.slice(2)) {
      const at = (headers: Record<string, string>) => send(path, { headers: { cookie, ...headers } });
      expect((await at({})).status).toBe(200);
      expect((await at({ origin: 'http://evil.test' })).status).toBe(403);
      expect((await at({ origin: 'null' })).status).toBe(403);
      expect((await at({ host: `evil.test:${server.port}` })).status).toBe(403);
      expect((await at({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    }
  });

  it('[O-13] is whom the host allows: to look, to act, or nothing', async () => {
    const access = ({ headers }: { headers: NodeJS.Dict<string | string[]> }) =>
      ({ right: headers['x-right'] === 'read' ? 'read' : 'none', by: 'kim' }) as const;
    const { send, server } = await start({ access });
    expect(server.url).not.toContain('token');
    expect((await send('/api/trees')).status).toBe(403);
    const headers = { 'x-right': 'read' };
    expect((await send('/api/trees', { headers })).status).toBe(200);
    const body = { order: 'isolate', name: 'search', confirm: 'search' };
    for (const path of ['/api/order', '/api/orders', '/api/orders/stop']) {
      const { status, body: text } = await send(path, { headers, body });
      expect([path, status, text]).toEqual([path, 403, '{"error":"You may look, and not act."}\n']);
    }
  });

  it('[O-13] is nobody where the host cannot say', async () => {
    const { send } = await start({ access: () => Promise.reject(new Error('no directory')) });
    expect((await send('/api/trees')).status).toBe(403);
  });
});

describe.skipIf(!hasSqlite)('the server of the dashboard', () => {
  it('[O-13] serves a page without data that may load nothing from elsewhere and is kept nowhere', async () => {
    const { send, token } = await start({}, ['vendor-kb']);
    const { status, headers, body } = await send('/');
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-/,
    );
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-frame-options': 'DENY' });
    // What `curl` shows of it.
    expect(/<noscript>([\s\S]*)<\/noscript>/.exec(body)?.[1]).toContain('unwedge status --json');
    expect(body).not.toContain(token);
    expect(body).not.toMatch(/vendor-kb|agent:main/);
  });

  it('[O-13] [O-9] says what waits and why: the open circuit with its cause and its next probe', async () => {
    const { send, login, call } = await start();
    const headers = { cookie: await login() };
    await call('gateway closed (1012)');
    await expect
      .poll(async () => (JSON.parse((await send('/api/snapshot?span=15m', { headers })).body) as Snapshot).waits)
      .toMatchObject([
        {
          name: 'search',
          sign: 'open',
          needsPerson: false,
          rule: 'Next probe',
          error: 'transient: gateway closed (1012)',
        },
      ]);
    const snapshot = JSON.parse((await send('/api/snapshot', { headers })).body) as Snapshot;
    const [search] = snapshot.integrations;
    expect(search).toMatchObject({ key: 'search', circuit: 'open', cause: { message: 'gateway closed (1012)' } });
    expect((search?.probeAt ?? 0) - snapshot.at).toBeGreaterThan(500_000);
    expect(snapshot.sessions).toMatchObject([{ key: 'agent:main', state: 'idle' }]);
  });

  it('[O-13] refuses every parameter that it cannot understand with 400, and names it and its value', async () => {
    const { send, login } = await start();
    const headers = { cookie: await login() };
    const numbers = ['abc', '-1', '1.5', '1e9', '0x10', 'NaN', '99999999999999999999'];
    const wrong: readonly (readonly [string, string, readonly (string | undefined)[]])[] = [
      ...['since', 'until', 'after', 'before'].map((name) => ['/api/events', name, numbers] as const),
      ['/api/events', 'limit', [...numbers, '0', '501']],
      ['/api/events', 'failed', ['yes', '2']],
      ['/api/chain', 'id', [...numbers, '0', undefined]],
      ['/api/session', 'id', [undefined]],
      ['/api/snapshot', 'span', ['2h', '-1', 'toString']],
      ['/api/stream', 'span', ['2h', '1e9']],
    ];
    for (const [path, parameter, values] of wrong) {
      for (const value of values) {
        const asked = value === undefined ? path : `${path}?${parameter}=${value}`;
        const { status, headers: given, body } = await send(asked, { headers });
        expect([asked, status, given['content-type']]).toEqual([asked, 400, 'application/json; charset=utf-8']);
        const { error, ...named } = JSON.parse(body) as { readonly error: string };
        expect(error).toContain(`Expected \`${parameter}\` to be `);
        expect(named).toEqual({ parameter, value });
      }
    }
    const twice = await send('/api/letters?session=a&session=b', { headers });
    expect([twice.status, JSON.parse(twice.body)]).toMatchObject([400, { parameter: 'session', value: 'a, b' }]);
    for (const fine of ['limit=500', 'limit=&since=0', 'since=1&until=2&after=0&before=9&failed=0'])
      expect([fine, (await send(`/api/events?${fine}`, { headers })).status]).toEqual([fine, 200]);
  });

  it('[O-13] [O-3] says of an alert what clears it and when, while a gateway watches and when none does', async () => {
    const alertRules = { failures: 1, quietMs: 120_000 };
    const { path, gateway, call: callAll } = await startGateway(['search'], alertRules);
    // Its circuit stays closed.
    const kb = gateway.integration('kb', { policy: { maxAttempts: 1 } }, () => {
      throw Object.assign(new Error('down'), { status: 503 });
    });
    await kb.call(undefined);
    const source = sourceOf(path);
    const alerts = async () => (await source.snapshot(900_000)).alerts;
    await expect.poll(alerts).toMatchObject([{ state: 'open', rule: 'All clear without a failure' }]);
    const [alert] = await alerts();
    expect(alert?.endsAt).toBe((alert?.lastFailureAt ?? 0) + 120_000);
    await callAll('down');
    const held = { integration: 'search', rule: 'All clear once its circuit has closed, or nobody calls it' };
    await expect.poll(alerts).toEqual(expect.arrayContaining([expect.objectContaining(held)]));
    await gateway.stop();
    expect((await alerts())[0]).toMatchObject({ rule: 'Looked at again when a gateway runs' });
  });

  it('[O-13] does an order that was confirmed, and records who gave it and why', async () => {
    const { send, login } = await start({ by: 'kim (dashboard)' });
    const headers = { cookie: await login() };
    const order = { order: 'isolate', name: 'search', why: 'the vendor works on it' };
    const unsure = await send('/api/order', { headers, body: order });
    expect([unsure.status, unsure.body]).toEqual([400, expect.stringContaining('asked twice')]);
    const done = await send('/api/order', { headers, body: { ...order, confirm: 'search' } });
    expect(JSON.parse(done.body)).toEqual({
      ok: true,
      text: 'The circuit of search is held open until it is reset.',
    });
    const live = async () => (JSON.parse((await send('/api/snapshot', { headers })).body) as Snapshot).integrations[0];
    expect(await live()).toMatchObject({ circuit: 'isolated' });
    await send('/api/order', { headers, body: { order: 'reset', name: 'search', confirm: 'search' } });
    expect(await live()).toMatchObject({ circuit: 'closed' });
    const by = 'kim (dashboard)';
    await expect
      .poll(async () => JSON.parse((await send('/api/events?category=operator', { headers })).body) as EventPage)
      .toMatchObject({
        events: [
          { type: 'reset', metadata: { integration: 'search', by } },
          { type: 'isolated', metadata: { integration: 'search', by, why: 'the vendor works on it' } },
        ],
      });
  });

  it('[O-13] gives an order on many that was confirmed by their number, shows how far it is, and records who gave it', async () => {
    const { send, login, integrations } = await start({ by: 'kim' }, ['search', 'mail', 'wiki']);
    const headers = { cookie: await login() };
    for (const each of integrations) each.breaker.isolate();
    const of = [{ name: 'search' }, { name: 'nobody' }, { name: 'mail' }];
    const order = { order: 'reset', of, why: 'the vendor is back' };
    const refused = async (body: object) => (await send('/api/orders', { headers, body })).body;
    expect(await refused(order)).toContain('Expected `confirm` to be their number, 3');
    expect(await refused({ ...order, of: [], confirm: 0 })).toContain('Expected `of` to have 1 to 500 entries, got 0');
    expect(await refused({ ...order, of: 'all', confirm: 3 })).toContain('Expected `of` to be a list');
    expect(await refused({ ...order, order: 'isolate', confirm: 3 })).toContain(
      'Expected `order` to be one of reset, ',
    );
    expect(await refused({ order: 'drop', of: [{ name: 'agent:main' }], confirm: 1 })).toContain('`target`');
    const begun = await send('/api/orders', { headers, body: { ...order, confirm: 3 } });
    expect(JSON.parse(begun.body)).toEqual({ ok: true, text: 'Begun: 3, two a second.' });
    const snapshot = async () => JSON.parse((await send('/api/snapshot', { headers })).body) as Snapshot;
    await expect
      .poll(async () => (await snapshot()).bulks)
      .toMatchObject([
        {
          ...{ order: 'reset', by: 'kim', total: 3, done: 2, failed: 1, state: 'ended' },
          lastError: 'No live gateway has nobody, and nothing was done; known: search, mail, wiki.',
        },
      ]);
    const circuits = (await snapshot()).integrations.map(({ key, circuit }) => `${key} ${circuit}`).sort();
    expect(circuits).toEqual(['mail closed', 'search closed', 'wiki isolated']);
    await expect
      .poll(async () => (await send('/api/events?category=operator', { headers })).body)
      .toMatch(/"reset".*"by":"kim","why":"the vendor is back"/);
  });

  it('[O-13] stops an order on many', async () => {
    const { send, login } = await start();
    const headers = { cookie: await login() };
    const of = Array.from({ length: 500 }, () => ({ name: 'search', target: 'x'.repeat(200) }));
    await send('/api/orders', { headers, body: { order: 'reset', of, confirm: 500 } });
    const bulk = async () => (JSON.parse((await send('/api/snapshot', { headers })).body) as Snapshot).bulks[0];
    const body = { key: (await bulk())?.key };
    expect(JSON.parse((await send('/api/orders/stop', { headers, body })).body)).toMatchObject({ ok: true });
    await expect.poll(bulk).toMatchObject({ total: 500, state: 'stopped' });
    expect(JSON.parse((await send('/api/orders/stop', { headers, body })).body)).toMatchObject({ ok: false });
  });

  it('[O-13] says of an order that nobody could do that nothing was done', async () => {
    const { send, login } = await start();
    const body = { order: 'restart', name: 'nobody', confirm: 'nobody' };
    const { body: text } = await send('/api/order', { headers: { cookie: await login() }, body });
    expect(JSON.parse(text)).toEqual({
      ok: false,
      text: 'No live gateway has nobody, and nothing was done; known: search, agent:main.',
    });
  });

  it('[O-8] shows none of the planted secrets in any of its answers', async () => {
    const { send, login, call } = await start();
    const headers = { cookie: await login() };
    const secret = 'sk-ant-api03-PLANTEDplantedPLANTEDplanted0123456789';
    await call(`Authorization: Bearer ${secret}`);
    await expect.poll(async () => (await send('/api/events', { headers })).body).toContain('failure');
    for (const path of [...paths.filter((each) => each !== '/api/stream'), '/']) {
      const { status, body } = await send(path, { headers });
      expect([path, status, body.includes(secret)]).toEqual([path, 200, false]);
    }
  });

  it('[O-13] streams how things are, then only what changes', async () => {
    const { login, call, server } = await start({}, ['search', 'mail']);
    const cookie = await login();
    const frames: Frame[] = [];
    const request = httpRequest({ port: server.port, path: '/api/stream', headers: { cookie } }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += String(chunk);
        const whole = text.split('\n\n');
        text = whole.pop() ?? '';
        frames.push(...whole.map((each) => JSON.parse(each.replace(/^data: /, '')) as Frame));
      });
      response.on('error', () => undefined);
    });
    request.on('error', () => undefined);
    onTestFinished(() => void request.destroy());
    request.end();
    await expect.poll(() => frames.length).toBe(1);
    expect(frames[0]).toMatchObject({ type: 'all', right: 'all', snapshot: { waits: [] } });
    await call('down');
    await expect.poll(() => JSON.stringify(frames.slice(1))).toContain('transient: down');
    expect(frames.slice(1).every(({ type }) => type === 'change')).toBe(true);
    expect(JSON.stringify(frames.slice(1))).not.toContain('agent:main');
  });
});

describe.skipIf(!hasSqlite)('an incident of the dashboard', () => {
  it('[O-13] [O-16] is one file that `unwedge replay` takes, of a gateway that runs, without secrets', async () => {
    const { send, login, call: callAll } = await start({ right: 'read' });
    const headers = { cookie: await login() };
    const secret = 'sk-ant-api03-PLANTEDplantedPLANTEDplanted0123456789';
    await callAll(`Authorization: Bearer ${secret}`);
    await callAll();
    const answer = await send('/api/incident', { headers, body: { id: 'search' } });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-disposition']).toMatch(/^attachment; filename="incident-search-\d{8}T\d{6}\.json"$/);
    expect(answer.body).not.toContain(secret);
    const file = join(temporaryDirectory(), 'incident.json');
    writeFileSync(file, answer.body);
    const played = await call(['replay', file, '--all']);
    expect(played).toMatchObject({ code: 0 });
    expect(played.stdout).toMatch(/search-1 +failed: transient, 1 attempt +the same/);
    expect(played.stdout).toMatch(/search-2 +refused: circuit_open, 0 attempts +the same/);
  });

  it('[O-13] [O-16] holds what a gateway has in memory alone: nothing went wrong, so that it wrote nothing by itself', async () => {
    const { send, login, call: callAll } = await start();
    await callAll();
    const headers = { cookie: await login() };
    const { body } = await send('/api/incident', { headers, body: { id: 'search' } });
    expect(JSON.parse(body)).toMatchObject({ integrations: [{ name: 'search', records: [{ because: 'asked' }] }] });
  });

  it('[O-13] [O-16] is refused to strangers, and where nothing of the name is on record', async () => {
    const { send, login } = await start();
    expect((await send('/api/incident', { body: { id: 'search' } })).status).toBe(403);
    const headers = { cookie: await login() };
    expect((await send('/api/incident', { headers })).status).toBe(405);
    const origin = { ...headers, origin: 'http://evil.test' };
    expect((await send('/api/incident', { headers: origin, body: { id: 'search' } })).status).toBe(403);
    const { status, body } = await send('/api/incident', { headers, body: { id: 'serch' } });
    expect([status, body]).toEqual([400, expect.stringContaining('serch')]);
    expect((await send('/api/incident', { headers, body: {} })).body).toContain('`id`');
  });
});

describe.skipIf(!hasSqlite)('the metrics of the dashboard', () => {
  const metricsToken = 'token-of-the-scraper';
  const bearer = { authorization: `Bearer ${metricsToken}` };

  it('[O-12] are those of all gateways on the database, as `unwedge metrics` prints them', async () => {
    const { send, path } = await start({ metricsToken });
    const { status, headers, body } = await send('/metrics', { headers: bearer });
    expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(body).toContain('unwedge_circuit_state{integration="search",state="closed"} 1\n');
    const printed = await call(['metrics', '--db', path], { now: () => Date.now() });
    const names = (text: string): readonly string[] => text.split('\n').filter((line) => line.startsWith('# TYPE'));
    expect(names(printed.stdout)).toEqual(names(body));
    const accept = 'application/openmetrics-text; version=1.0.0';
    const open = await send('/metrics', { headers: { ...bearer, accept } });
    expect(open.headers['content-type']).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(Object.keys(parseOpenMetrics(open.body))).toContain('unwedge_calls_pending_long');
  });

  it('[O-12] are for who shows their token, or has the page open, and the token opens nothing else', async () => {
    const { send, login } = await start({ metricsToken });
    const cookie = await login();
    const status = async (path: string, headers: Record<string, string> = {}) => (await send(path, { headers })).status;
    expect(await status('/metrics')).toBe(403);
    expect(await status('/metrics', { authorization: 'Bearer another' })).toBe(403);
    expect(await status('/metrics', { cookie })).toBe(200);
    expect(await status('/metrics', { ...bearer, host: 'evil.example' })).toBe(403);
    for (const path of paths) expect([path, await status(path, bearer)]).toEqual([path, 403]);
    const order = { order: 'restart', name: 'search', confirm: 'search' };
    expect((await send('/api/order', { headers: bearer, body: order })).status).toBe(403);
    expect((await send('/metrics', { headers: bearer, body: {} })).status).toBe(405);
  });

  it('[O-12] are for the browser alone where no token was given', async () => {
    const { send } = await start();
    expect((await send('/metrics', { headers: { authorization: 'Bearer ' } })).status).toBe(403);
    expect((await send('/metrics', { headers: { authorization: 'Bearer undefined' } })).status).toBe(403);
  });
});
