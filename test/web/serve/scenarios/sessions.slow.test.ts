import { describe, expect, it } from 'vitest';
import type { HistoryEntry } from '../../../../src/sessions/history.ts';
import type { SessionWhy } from '../../../../src/sessions/why.ts';
import { whyText } from '../../../../cli/whyText.ts';
import type { ServedAgent } from '../../../../web/serve/serveTypes.ts';
import { builtAcpAgent } from '../../../support/acpWire.ts';
import { fakeAgent } from '../../../support/fakeAgent.ts';
import { SkippingClock } from '../../../support/skippingClock.ts';
import { faultyServer } from '../../../support/faultyServer.ts';
import { eventsOf, type SeenEvent, startServed, token } from '../startServed.ts';

const echo = { tool: { server: 'kb', name: 'echo', arguments: { word: 'hello' } } };

/** An agent that does what its prompt says. */
function agent(options: Partial<ServedAgent> = {}) {
  const fake = fakeAgent();
  const { command, env } = fake;
  return { fake, served: { backend: 'claude' as const, claude: { command, env }, ...options } };
}

describe('a gateway that is served', () => {
  it('[E-1] makes a session, has a tool called in it, and tells what became of it', async () => {
    const { get, post, send } = await startServed({ servers: { kb: faultyServer() } });
    const made = await post('/v1/sessions', { id: 'a' });
    expect([made.status, await made.json()]).toEqual([201, { id: 'serve:a', state: 'idle', waiting: 0 }]);
    expect((await post('/v1/sessions', { id: 'a' })).status).toBe(200);
    const sent = await send('a', echo);
    expect(sent).toMatchObject({ status: 200, id: 'serve:a-m1', state: 'done', durable: true });
    expect(await get('/v1/sessions/a/messages/serve:a-m1')).toEqual({
      id: 'serve:a-m1',
      state: 'done',
      result: sent.result,
    });
    const { history } = await get<{ history: HistoryEntry[] }>('/v1/sessions/serve:a/history');
    expect(history.map(({ type }) => type)).toEqual(['message', 'tool_call', 'tool_result']);
    expect(await get('/v1/sessions')).toEqual({ sessions: [{ id: 'serve:a', state: 'idle', waiting: 0 }] });
    expect(await get('/v1/tools')).toMatchObject({ servers: [{ server: 'kb', tools: [{ name: 'echo' }] }] });
  });

  it('[E-1] accepts a message of one key once', async () => {
    const { get, post, send } = await startServed({ servers: { kb: faultyServer() } });
    await post('/v1/sessions', { id: 'a' });
    const first = await send('a', echo, '1h', 'k-1');
    expect(await send('a', echo, '1h', 'k-1')).toMatchObject({ status: 200, id: first.id, duplicate: true });
    const { history } = await get<{ history: HistoryEntry[] }>('/v1/sessions/a/history');
    expect(history.filter(({ type }) => type === 'tool_call')).toHaveLength(1);
  });

  it('[E-1] accepts no other message under the key of one', async () => {
    const { post, send } = await startServed({ servers: { kb: faultyServer() } });
    await post('/v1/sessions', { id: 'a' });
    await send('a', echo, '1h', 'k-1');
    const other = { tool: { ...echo.tool, arguments: { word: 'another' } } };
    expect(await send('a', other, '1h', 'k-1')).toMatchObject({
      status: 422,
      error: 'Another message was accepted under this Idempotency-Key: serve:a-m1.',
    });
  });

  it('[E-1] waits for the end of a message that was sent before under its key', async () => {
    const kb = faultyServer({ faults: [{ tool: 'echo', do: 'hang' }] });
    const { get, post, send } = await startServed({ servers: { kb } });
    await post('/v1/sessions', { id: 'a' });
    await send('a', echo, '', 'k-1');
    const why = await whyInFlight(get);
    expect(await send('a', echo, '', 'k-1')).toMatchObject({ status: 202, state: 'running', duplicate: true });
    const again = send('a', echo, '1h', 'k-1');
    await post('/v1/sessions/a/fire', { rule: why.next?.id ?? '' });
    expect(await again).toMatchObject({ status: 200, id: 'serve:a-m1', state: 'failed', duplicate: true });
  });

  it('[E-1] [I-5] knows what became of a message when another process asks first', async () => {
    const first = await startServed({ servers: { kb: faultyServer() } });
    await first.post('/v1/sessions', { id: 'a' });
    await first.send('a', echo);
    await first.serving.stop();
    const second = await startServed({ servers: { kb: faultyServer() }, store: first.store });
    expect(await second.get('/v1/sessions/a/messages/a-m1')).toMatchObject({ id: 'serve:a-m1', state: 'done' });
    await second.serving.stop();
    const third = await startServed({ servers: { kb: faultyServer() }, store: first.store });
    const { history } = await third.get<{ history: HistoryEntry[] }>('/v1/sessions/a/history');
    expect(history).toHaveLength(3);
  });

  it('[E-1] [I-5] knows the message of a key that an earlier process accepted and did not begin', async () => {
    const hangs = { kb: faultyServer({ faults: [{ tool: 'echo', do: 'hang' }] }) };
    const first = await startServed({ servers: hangs });
    await first.post('/v1/sessions', { id: 'a' });
    await first.send('a', echo, '', 'k-1');
    await first.send('a', echo, '', 'k-2');
    await whyInFlight(first.get);
    await first.serving.stop();
    const { get, post, send } = await startServed({ servers: hangs, store: first.store });
    await get('/v1/sessions/a');
    const other = { tool: { ...echo.tool, arguments: { word: 'another' } } };
    expect(await send('a', other, '', 'k-2')).toMatchObject({ status: 422 });
    expect(await send('a', echo, '', 'k-2')).toMatchObject({ status: 202, id: 'serve:a-m2', duplicate: true });
    const ended = send('a', echo, '1h', 'k-2');
    for (let ends = false; !ends; ) {
      const why = await get<SessionWhy>('/v1/sessions/a/why');
      if (why.next !== undefined) await post('/v1/sessions/a/fire', { rule: why.next.id });
      ends = why.state === 'idle' && why.waiting === 0;
    }
    expect(await ended).toMatchObject({ status: 200, state: 'failed', duplicate: true });
  });

  it('[E-1] [I-5] says of a session that another process has what is on record, and takes nothing for it', async () => {
    const first = await startServed({ servers: { kb: faultyServer() } });
    await first.post('/v1/sessions', { id: 'a' });
    await first.send('a', echo);
    const second = await startServed({ servers: { kb: faultyServer() }, store: first.store });
    for (const way of ['history', 'messages/serve:a-m1'])
      expect(await second.get(`/v1/sessions/a/${way}`)).toEqual(await first.get(`/v1/sessions/a/${way}`));
    expect(await second.get('/v1/sessions/a')).toMatchObject({ heldElsewhere: true });
    expect(await second.get('/v1/sessions/a/why')).toMatchObject({ onRecord: { messages: [], calls: [] } });
    expect(await second.send('a', echo)).toMatchObject({ status: 409, error: 'Another process has the session.' });
    expect((await second.post('/v1/sessions/a/cancel', {})).status).toBe(409);
    expect((await second.ask('/v1/sessions/a/events')).status).toBe(409);
  });

  it('[E-1] goes on when its server is killed in the middle of a call', async () => {
    const kb = faultyServer({ faults: [{ tool: 'echo', nth: 1, do: 'crash', signal: 'SIGKILL' }] });
    const { post, send } = await startServed({ servers: { kb } });
    await post('/v1/sessions', { id: 'a' });
    const lost = await send('a', echo);
    expect(lost).toMatchObject({ status: 200, state: 'failed', result: { synthetic: true, outcome: 'unknown' } });
  });

  it('[E-1] says of a message that runs so, when its client has waited long enough', async () => {
    const kb = faultyServer({ faults: [{ tool: 'echo', do: 'hang' }] });
    const clock = new SkippingClock();
    const { get, post, send } = await startServed({ servers: { kb }, clock });
    await post('/v1/sessions', { id: 'a' });
    const [running, waiting] = [send('a', echo, '3s'), send('a', echo, '3s')];
    await whyInFlight(get);
    await expect.poll(async () => (await get<SessionWhy>('/v1/sessions/a/why')).waiting).toBe(1);
    clock.skip(3_000);
    const states = [await running, await waiting].map(({ status, state }) => [status, state]);
    expect(states).toHaveLength(2);
    expect(states).toEqual(
      expect.arrayContaining([
        [202, 'running'],
        [202, 'waiting'],
      ]),
    );
  });

  it('[E-1] says why a session waits, and ends the call by its rule or by hand', async () => {
    const kb = faultyServer({ faults: [{ tool: 'echo', do: 'hang' }] });
    const { get, post, send, ask } = await startServed({ servers: { kb } });
    await post('/v1/sessions', { id: 'a' });
    const events = eventsOf(await ask('/v1/sessions/a/events'));
    const sent = await send('a', echo, '');
    expect(sent).toMatchObject({ status: 202, state: 'waiting', durable: true });
    const seen = await until(events, 'session.turn_started');
    expect(seen.at(-1)?.data).toMatchObject({ session: 'serve:a', message: 'serve:a-m1' });
    const why = await whyInFlight(get);
    expect(why).toMatchObject({ session: 'serve:a', turn: { message: 'serve:a-m1' }, calls: [{ integration: 'kb' }] });
    expect(await get('/v1/sessions/a/messages/serve:a-m1')).toEqual({ id: 'serve:a-m1', state: 'running' });
    const next = why.next?.id ?? '';
    expect(await (await post('/v1/sessions/a/fire', { rule: next, why: 'a test' })).json()).toMatchObject({ ok: true });
    const ended = await until(events, 'session.turn_ended');
    expect(ended.at(-1)).toMatchObject({
      id: expect.stringMatching(/^[\da-f]{8}-\d+-\d+-\d+$/) as string,
      data: { message: 'serve:a-m1', ok: true },
    });
    expect(await get('/v1/sessions/a/messages/serve:a-m1')).toMatchObject({ state: 'failed' });

    await send('a', echo, '');
    await until(events, 'session.turn_started');
    await whyInFlight(get);
    expect(await (await post('/v1/sessions/a/cancel', {})).json()).toMatchObject({ ok: true });
    await until(events, 'session.turn_ended');
    expect(await get('/v1/sessions/a/messages/serve:a-m2')).toMatchObject({ state: 'failed' });
  });

  it('[E-1] asks an agent, tells what it does meanwhile, and goes on with the conversation', async () => {
    const { fake, served } = agent();
    const { post, send, ask } = await startServed({ agents: { coder: served } });
    await post('/v1/sessions', { id: 'a' });
    const events = eventsOf(await ask('/v1/sessions/a/events'));
    expect(await send('a', { text: 'say four' })).toMatchObject({
      state: 'done',
      result: { status: 'ok', value: { agent: 'coder', text: 'four', conversation: expect.any(String) as string } },
    });
    const told = await until(events, 'agent');
    expect(told.at(-1)?.data).toMatchObject({ type: 'agent', agent: 'coder', event: { type: 'text', text: 'four' } });
    expect(await send('a', { text: 'say five' })).toMatchObject({ result: { value: { text: 'five' } } });
    expect(fake.starts()).toHaveLength(1);
  });

  it('[A-4] [E-1] asks any agent of the Agent Client Protocol, allows kinds of tools, and goes on with the conversation', async () => {
    const coder = { acp: builtAcpAgent(), approve: ['execute'] };
    const { post, send } = await startServed({ agents: { coder, careful: { acp: builtAcpAgent() } } });
    await post('/v1/sessions', { id: 'a' });
    expect(await send('a', { text: 'say four; ask edit', agent: 'coder' })).toMatchObject({
      state: 'done',
      result: { status: 'ok', value: { agent: 'coder', text: 'four' } },
    });
    expect(await send('a', { text: 'say five', agent: 'coder' })).toMatchObject({
      result: { value: { text: 'five' } },
    });
    expect(await send('a', { text: 'stop refusal', agent: 'careful' })).toMatchObject({ state: 'failed' });
  });

  it('[E-1] takes the conversation up again in another process', async () => {
    const { fake, served } = agent();
    const first = await startServed({ agents: { coder: served } });
    await first.post('/v1/sessions', { id: 'a' });
    const { result } = await first.send('a', { text: 'say four' });
    await first.serving.stop();
    const second = await startServed({ agents: { coder: served }, store: first.store });
    expect(await second.send('a', { text: 'say five' })).toMatchObject({ id: 'serve:a-m2', state: 'done' });
    const { conversation } = (result as { value: { conversation: string } }).value;
    expect(fake.starts()[1]?.args.join(' ')).toContain(`--resume ${conversation}`);
  });

  it('[E-1] [L-5] says by which limit of its agent a turn ends, and how long all of its agents may take', async () => {
    const limits = { idleMs: 60_000, attemptMs: 120_000, overallMs: 180_000 };
    const served = { ...agent({ policy: { limits } }).served, fallback: 'other' };
    const agents = { main: served, other: agent({ policy: { limits } }).served };
    const { get, post, send } = await startServed({ agents });
    await post('/v1/sessions', { id: 'a' });
    void send('a', { text: 'hang' }, '');
    const why = await whyInFlight(get);
    expect(why.next).toMatchObject({ rule: 'idle_timeout', of: 'main', what: 'ask' });
    expect(why.next?.inMs).toBeLessThanOrEqual(60_000);
    expect(whyText(why)).toContain('idle_timeout of main ends ask in ');
    const watchdog = why.rules.find(({ rule }) => rule === 'tool_call');
    expect(watchdog?.inMs).toBeLessThanOrEqual(180_000 + 180_000 + 300_000);
  });

  it('[E-1] tells an agent whose answer was cut that it may have acted', async () => {
    const { fake, served } = agent();
    const first = await startServed({ agents: { coder: served } });
    await first.post('/v1/sessions', { id: 'a' });
    await first.send('a', { text: 'hang' }, '');
    await expect.poll(() => fake.prompts()).toEqual(['hang']);
    await first.serving.stop();
    await startServed({ agents: { coder: served }, store: first.store });
    await expect.poll(() => fake.prompts()).toHaveLength(2);
    expect(fake.prompts()[1]).toMatch(/^hang\n\n\[This message was answered before, and the answer was cut off/);
  });

  it('[E-1] has the failure of an agent as its answer, and the session goes on with the same agent', async () => {
    const { post, send } = await startServed({ agents: { first: agent().served, alone: agent().served } });
    await post('/v1/sessions', { id: 'a' });
    const failed = await send('a', { text: 'fail 400 too long', agent: 'alone' });
    expect(failed).toMatchObject({ state: 'failed', error: expect.stringContaining('too long') as string });
    expect(await send('a', { text: 'say well' })).toMatchObject({
      state: 'done',
      result: { value: { agent: 'alone', text: 'well' } },
    });
  });

  it('[E-1] has the fallback of an agent go on for it, by its name', async () => {
    const reviewer = agent();
    const { post, send } = await startServed({
      agents: { coder: { ...agent().served, fallback: 'reviewer' }, reviewer: reviewer.served },
    });
    await post('/v1/sessions', { id: 'a' });
    const sent = await send('a', { text: 'fail 402 no credit' });
    expect(reviewer.fake.prompts()).toHaveLength(1);
    // Its prompt begins with the same word, so that both have failed.
    expect(sent).toMatchObject({ state: 'failed', result: { value: { agent: 'coder' } } });
  });

  it('[E-1] allows an agent the tools that are named, and no other', async () => {
    const { served } = agent({ approve: ['Bash'] });
    const { post, send } = await startServed({ agents: { free: served, bound: agent().served } });
    await post('/v1/sessions', { id: 'a' });
    const free = await send('a', { text: 'tool ls', agent: 'free' });
    const bound = await send('a', { text: 'tool ls', agent: 'bound' });
    expect([free, bound]).toMatchObject([
      { result: { value: { text: 'done' } } },
      { result: { value: { text: 'not done' } } },
    ]);
  });

  it('[E-1] [H-1] has a hook decline what it guards', async () => {
    const guard = { command: process.execPath, args: ['-e', 'console.error("not this one"); process.exit(2)'] };
    const { get, post, send } = await startServed({
      servers: { kb: faultyServer() },
      agents: { coder: agent().served },
      hooks: { PreToolUse: [{ ...guard, onFailure: 'block' }] },
    });
    await post('/v1/sessions', { id: 'a' });
    const declined = await send('a', echo);
    expect(declined).toMatchObject({ state: 'declined', error: 'not this one' });
    const { id, state, error } = declined;
    await expect.poll(() => get(`/v1/sessions/a/messages/${id}`)).toEqual({ id, state, error });
    expect(await send('a', { text: 'say well' })).toMatchObject({ state: 'done' });
  });

  it('[E-1] [I-5] keeps what was accepted: what waits at a stop is answered by the next process', async () => {
    // It changes nothing, and so is called again.
    const tools = [{ name: 'echo', annotations: { readOnlyHint: true } }];
    const kb = faultyServer({ tools, faults: [{ tool: 'echo', nth: 1, do: 'hang' }] });
    const first = await startServed({ servers: { kb } });
    await first.post('/v1/sessions', { id: 'a' });
    const events = eventsOf(await first.ask('/v1/sessions/a/events'));
    const ids = [await first.send('a', echo, ''), await first.send('a', echo, '')].map(({ id }) => id);
    await until(events, 'session.turn_started');
    await whyInFlight(first.get);
    await first.serving.stop();
    const second = await startServed({ servers: { kb: faultyServer({ tools }) }, store: first.store });
    const read = eventsOf(await second.ask('/v1/sessions/a/events', { headers: { 'last-event-id': 'of-another' } }));
    expect((await read.next()).value).toMatchObject({ event: 'missed' });
    expect(await second.send('a', echo)).toMatchObject({ id: 'serve:a-m3', state: 'done' });
    for (const id of ids) expect(await second.get(`/v1/sessions/a/messages/${id}`)).toMatchObject({ state: 'done' });
  });

  it('[E-1] leaves the sessions of other hosts on the same database alone', async () => {
    const first = await startServed({ servers: { kb: faultyServer() } });
    const answer = await first.ask('/v1/sessions/agent:main');
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { error: 'Nobody knows the session `agent:main`: POST /v1/sessions makes one.' },
    ]);
  });

  it('[E-1] gives a reader that comes back what it missed', async () => {
    const { post, send, ask } = await startServed({ servers: { kb: faultyServer() } });
    await post('/v1/sessions', { id: 'a' });
    const reader = new AbortController();
    const events = eventsOf(await ask('/v1/sessions/a/events', { signal: reader.signal }));
    await send('a', echo);
    const { id = '' } = (await until(events, 'session.turn_started')).at(-1) ?? {};
    reader.abort();
    const again = eventsOf(await ask('/v1/sessions/a/events', { headers: { 'last-event-id': id } }));
    const missed = await until(again, 'session.turn_ended');
    expect(missed.map(({ data }) => data.type)).not.toContain('missed');
    expect(missed.map(({ data }) => data.type)).not.toContain('session.turn_started');
  });
});

describe('what a client gets wrong', () => {
  it.each([
    ['no token', '/v1/sessions', { headers: { authorization: '' } }, 401, /Authorization has to hold the token/],
    ['another token', '/v1/sessions', { headers: { authorization: `Bearer ${token}x` } }, 401, /hold the token/],
    ['no such route', '/v2/sessions', {}, 404, /There is no \/v2\/sessions here/],
    ['another method', '/v1/sessions/a/cancel', {}, 405, /takes POST/],
    ['no session in the path', '/v1/sessions/', {}, 404, /There is no/],
    ['no JSON', '/v1/sessions', { method: 'POST', body: '{' }, 400, /has to be JSON/],
    ['a key nobody knows', '/v1/sessions', { method: 'POST', body: '{"ip":"a"}' }, 400, /`body\.ip`.*id/],
    ['an id with spaces', '/v1/sessions', { method: 'POST', body: '{"id":"a b"}' }, 400, /`body\.id`.*without spaces/],
    [
      'an id without end',
      '/v1/sessions',
      { method: 'POST', body: `{"id":"${'x'.repeat(201)}"}` },
      400,
      /`body\.id`.*200 characters/,
    ],
    ['an id that is no text', '/v1/sessions', { method: 'POST', body: '{"id":7}' }, 400, /`body\.id`.*7/],
    [
      'neither text nor tool',
      '/v1/sessions/a/messages',
      { method: 'POST', body: '{}' },
      400,
      /either `text` or `tool`/,
    ],
    [
      'a server nobody knows',
      '/v1/sessions/a/messages',
      { method: 'POST', body: '{"tool":{"server":"xb","name":"echo"}}' },
      400,
      /`body\.tool\.server`.*kb.*xb/,
    ],
    ['text without an agent', '/v1/sessions/a/messages', { method: 'POST', body: '{"text":"hi"}' }, 400, /No agent/],
    [
      'a wait that is none',
      '/v1/sessions/a/messages?wait=soon',
      { method: 'POST', body: '{}' },
      400,
      /`query\.wait`.*soon/,
    ],
    ['a message nobody knows', '/v1/sessions/a/messages/x', {}, 404, /Nobody knows this message/],
  ])('[E-1] %s is told by its name', async (_, way, init, status, error) => {
    const { post, ask } = await startServed({ servers: { kb: faultyServer() } });
    await post('/v1/sessions', { id: 'a' });
    const response = await ask(way, init);
    expect(response.status).toBe(status);
    expect(((await response.json()) as { error: string }).error).toMatch(error);
  });

  it('[E-1] a body of more than 4 MB is not read', async () => {
    const { ask } = await startServed();
    const body = JSON.stringify({ id: 'x'.repeat(5 * 1024 * 1024) });
    expect((await ask('/v1/sessions', { method: 'POST', body })).status).toBe(413);
  });
});

/** What the session waits for, once its call is in flight. */
async function whyInFlight(get: <T>(way: string) => Promise<T>): Promise<SessionWhy> {
  let why: SessionWhy | undefined;
  const phase = async () => (why = await get<SessionWhy>('/v1/sessions/a/why')).calls[0]?.progress?.phase;
  await expect.poll(phase).toBe('in_flight');
  return why as unknown as SessionWhy;
}

/** Reads on up to an event of this type. */
async function until(events: AsyncGenerator<SeenEvent, undefined>, type: string): Promise<SeenEvent[]> {
  const seen: SeenEvent[] = [];
  for (;;) {
    const { value, done } = await events.next();
    if (done === true) throw new Error(`The events ended before ${type}: ${seen.map(({ event }) => event).join(', ')}`);
    seen.push(value);
    if (value.event === type) return seen;
  }
}
