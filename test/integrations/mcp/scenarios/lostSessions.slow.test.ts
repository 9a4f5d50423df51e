import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createGateway,
  type Fact,
  type Gateway,
  type McpIntegration,
  type RemoteMcpOptions,
} from '../../../../src/index.ts';
import { type LosingFront, loseTwice, madeAnew, startLosingFront, words } from '../losingFront.ts';
import { type OfficialServer, startOlder, startSessions, startStateless } from '../officialServers.ts';

const find = { name: 'find', arguments: { text: 'x' } };
const found = { ok: true, value: { content: [{ type: 'text', text: 'x' }] } };
const rpc = (code: number, message: string) => ({
  status: 200,
  body: `{"jsonrpc":"2.0","id":ID,"error":${JSON.stringify({ code, message })}}`,
});

interface Started {
  readonly gateway: Gateway;
  readonly kb: McpIntegration;
  readonly server: OfficialServer;
  readonly front: LosingFront;
  readonly facts: readonly Fact[];
}

async function start(
  options: Partial<RemoteMcpOptions> = {},
  startServer: () => Promise<OfficialServer> = startSessions,
): Promise<Started> {
  const server = await startServer();
  const front = await startLosingFront(server.url);
  const gateway = createGateway();
  const facts: Fact[] = [];
  gateway.on('*', (fact) => void facts.push(fact));
  onTestFinished(() => gateway.stop());
  const kb = gateway.mcpServer('kb', { url: front.url, handshakeMs: 600_000, ...options });
  await gateway.start();
  expect(await kb.tools()).toMatchObject({ ok: true });
  expect(await kb.call(find)).toMatchObject(found);
  return { gateway, kb, server, front, facts };
}

const few = ['401 that names it', '500 that does not', 'an error of a bridge whose server died', 'invalid parameters'];

describe('a session of a remote server that is lost', () => {
  it.each(words.filter(([name]) => few.includes(name)))(
    '[P-4] [R-12] by %s is made anew',
    async (_, word, isRefused) => {
      expect(await loseTwice(await start(), word)).toEqual(madeAnew(isRefused));
    },
  );

  it('[P-4] by a real 401 is not: the call fails as auth, after one question, and the session stays', async () => {
    const { kb, front, facts } = await start();
    front.answer = () => ({ status: 401, body: '{"error":"your session has expired, sign in again"}' });
    expect(await kb.call(find, { effect: 'readOnly' })).toMatchObject({
      ok: false,
      failure: { kind: 'auth', status: 401 },
    });
    front.answer = undefined;
    expect(await kb.call(find)).toMatchObject(found);
    expect([front.asked('ping'), front.asked('initialize')]).toEqual([1, 2]);
    expect(facts.filter(({ type }) => type === 'integration.crashed')).toEqual([]);
  });

  it('[P-4] by a 401 of its token has the token renewed once for ten calls, and nothing is asked', async () => {
    let token = 'old';
    let renewals = 0;
    const auth = {
      token: () => token,
      refused: () => {
        renewals++;
        token = 'new';
        return true;
      },
    };
    const { kb, front } = await start({ auth });
    front.answer = ({ headers }) =>
      headers.authorization === 'Bearer old' ? { status: 401, body: '{"error":"invalid_token"}' } : undefined;
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => kb.call(find, { effect: 'mutating' })));
    expect(outcomes.every(({ ok }) => ok)).toBe(true);
    expect([renewals, front.asked('ping'), front.asked('initialize')]).toEqual([1, 0, 1]);
  });

  it.each([
    [
      'a status',
      { status: 409, body: '{"error":"the session is busy"}' },
      { kind: 'crash', outcome: 'unknown', status: 409 },
    ],
    ['an error', rpc(-32_000, 'Browser session not found'), { kind: 'unknown', code: -32_000 }],
  ])('[P-4] is not by %s that only speaks of one', async (_, word, failure) => {
    const { kb, front, server } = await start();
    front.answer = ({ method }) => (method === 'tools/call' ? word : undefined);
    const outcomes = await Promise.all(Array.from({ length: 5 }, () => kb.call(find, { effect: 'mutating' })));
    expect(outcomes).toMatchObject(outcomes.map(() => ({ ok: false, failure })));
    expect(front.asked('ping')).toBeLessThan(5);
    front.answer = undefined;
    expect([server.ran(), front.asked('initialize')]).toEqual([1, 1]);
  });

  it.each([
    ['names its request', '"id":ID,'],
    ['names none', ''],
  ])('[P-4] is not by an error with a status that %s: it is the answer', async (_, id) => {
    const { kb, front } = await start();
    const error = { code: -32_602, message: 'text is missing' };
    const word = { status: 400, body: `{"jsonrpc":"2.0",${id}"error":${JSON.stringify(error)}}` };
    front.answer = ({ method }) => (method === 'tools/call' ? word : undefined);
    const failure = { kind: 'permanent', code: -32_602 };
    for (let each = 0; each < 2; each++) expect(await kb.call(find)).toMatchObject({ ok: false, failure });
    front.answer = undefined;
    expect(await kb.call(find)).toMatchObject(found);
    expect(front.asked('initialize')).toBe(1);
  });

  it('[P-4] is not where a server knows no ping, and refuses arguments', async () => {
    const { kb, front } = await start();
    front.answer = ({ method }) => {
      if (method === 'ping') return 'hang';
      return method === 'tools/call' ? rpc(-32_602, 'text is missing') : undefined;
    };
    const outcome = await kb.call(find);
    expect(outcome).toMatchObject({ ok: false, failure: { kind: 'permanent', code: -32_602 } });
    front.answer = undefined;
    expect(await kb.call(find)).toMatchObject(found);
    expect(front.asked('initialize')).toBe(1);
  }, 15_000);

  it('[P-4] with each call, by a bridge whose server stays dead, opens its circuit', async () => {
    const { kb, front } = await start();
    front.answer = ({ method }) =>
      method === 'tools/call' || method === 'ping' ? rpc(-32_603, 'Not connected') : undefined;
    const kinds: string[] = [];
    for (let each = 0; each < 12; each++) {
      const outcome = await kb.call(find, { effect: 'mutating' });
      kinds.push(outcome.ok ? 'ok' : outcome.failure.kind);
    }
    expect(kinds).toContain('circuit_open');
    expect(kinds).not.toContain('ok');
  });
});

describe('a remote server of the transport of 2024', () => {
  it.each([
    ['an error on its stream', true, undefined],
    ['500 that names the session', false, { status: 500, body: 'Error: no transport for this session' }],
    ['401 that names it', false, { status: 401, body: 'session expired' }],
  ])('[P-4] that loses its session by %s gets a new one', async (_, isOnStream, word) => {
    const { kb, front, server } = await start({ transport: 'sse' }, startOlder);
    front.breakStream(isOnStream ? rpc(-32_602, 'Invalid request parameters').body : undefined, word);
    const mutating = await kb.call(find, { effect: 'mutating' });
    expect(mutating.ok).toBe(word?.status === 401);
    expect(await kb.call(find, { effect: 'mutating' })).toMatchObject(found);
    expect([server.ran(), front.asked('initialize')]).toEqual([word?.status === 401 ? 3 : 2, 2]);
  });
});

describe('a refusal of a server that is busy', () => {
  it.each([
    ['http', startSessions],
    ['sse', startOlder],
  ] as const)('[P-4] [R-5] says nothing of its session: nothing is asked: %s', async (transport, server) => {
    const { kb, front } = await start({ transport }, server);
    const word = { status: 503, body: 'Service Unavailable', headers: { 'retry-after': '1' } };
    front.answer = ({ method }) => (method === 'tools/call' ? word : undefined);
    const outcome = await kb.call(find, { effect: 'mutating' });
    expect(outcome).toMatchObject({ ok: false, failure: { status: 503 } });
    front.answer = undefined;
    expect([front.asked('ping'), front.asked('initialize')]).toEqual([0, 1]);
  });
});

describe('a question whether a session is lost', () => {
  const transports = [
    ['http', startSessions],
    ['sse', startOlder],
  ] as const;
  const greetings = { http: 'initialize', sse: 'GET' } as const;

  it.each(transports)(
    '[P-4] [S-2] ends with the gateway, though the server holds it open: %s',
    async (transport, server) => {
      const { gateway, kb, front } = await start({ transport, pingMs: 600_000 }, server);
      front.answer = ({ method }) =>
        method === 'ping'
          ? 'hang'
          : method === 'tools/call'
            ? { status: 500, body: 'Internal Server Error' }
            : undefined;
      const call = kb.call(find, { effect: 'mutating' });
      const hanging = () => [...front.hanging].map(({ method }) => method);
      await expect.poll(hanging).toEqual(['ping']);
      await gateway.stop();
      await expect.poll(hanging).toEqual([]);
      expect((await call).ok).toBe(false);
      // Nothing more is asked in its place.
      expect(front.asked(greetings[transport])).toBe(1);
    },
  );

  it.each(transports)(
    '[P-4] [S-2] ends with the gateway, where it is another handshake: %s',
    async (transport, server) => {
      const { gateway, kb, front } = await start({ transport, pingMs: 600_000 }, server);
      const greeting = greetings[transport];
      const refused = { status: 500, body: 'Internal Server Error' };
      front.answer = ({ method }) =>
        method === greeting
          ? 'hang'
          : method === 'ping'
            ? { ...refused, status: 401 }
            : method === 'tools/call'
              ? refused
              : undefined;
      const call = kb.call(find, { effect: 'mutating' });
      const hanging = () => [...front.hanging].map(({ method }) => method);
      await expect.poll(hanging).toEqual([greeting]);
      await gateway.stop();
      await expect.poll(hanging).toEqual([]);
      expect((await call).ok).toBe(false);
    },
  );
});

describe('a remote server of the stateless era', () => {
  it('[P-4] whose place one with sessions has taken, and that says so in its own words, is asked anew what it speaks', async () => {
    const { kb, front, server } = await start({}, startStateless);
    const before = front.asked('server/discover');
    let isOlder = true;
    front.answer = ({ method }) => {
      if (method === 'server/discover' && front.asked('server/discover') > before + 1) isOlder = false;
      return isOlder ? { status: 422, body: '{"detail":"Missing session"}' } : undefined;
    };
    expect(await kb.call(find, { effect: 'mutating' })).toMatchObject(found);
    expect(server.ran()).toBe(2);
  });
});
