import { setTimeout as wait } from 'node:timers/promises';

/** Time in which a request gets its answer whatever befalls the server, in ms: below the 30 s after which most clients give up, and a start on a busy machine. */
const patienceMs = 45_000;

/** @returns what a request came to: `problem` where it is not the one answer that it is owed, `refused` if nobody took it; `over` where its program had ended. */
async function owed(ran, what, answer, wrong = () => undefined) {
  const over = ran.exited.then(() => wait(300)).then(() => ({ over: true }));
  const late = wait(patienceMs, { problem: `no answer within ${patienceMs / 1000} s` }, { ref: false });
  const come = answer.then(
    (value) => ({ problem: wrong(value), refused: value?.status >= 500 }),
    (error) =>
      ran.isOver
        ? { over: true }
        : wait(1500).then(() =>
            ran.isOver ? { over: true } : { problem: String(error?.cause ?? error), refused: true },
          ),
  );
  return { what, ...(await Promise.race([come, over, late])) };
}

/** JSON-RPC by lines, as editors and clients speak it to a child. */
export function lineClient(ran) {
  const open = new Map();
  const ended = new Set();
  let next = 1;
  const twice = [];
  ran.lines.on('line', (line) => {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      // A program that was killed leaves half a line.
      if (line !== '') twice.push({ what: 'a line', problem: `that is no message: ${line.slice(0, 200)}` });
      return;
    }
    if (message.method !== undefined) {
      if (message.id !== undefined) send({ id: message.id, result: { outcome: { outcome: 'cancelled' } } });
      return;
    }
    if (ended.has(message.id)) twice.push({ what: `request ${message.id}`, problem: 'answered twice' });
    ended.add(message.id);
    open.get(message.id)?.(message);
  });
  const send = (message) => ran.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method, params) =>
    new Promise((resolve) => {
      open.set(next, resolve);
      send({ id: next++, method, params });
    });
  /** Names, once all is over, the lines that came twice or are no message. */
  const strays = () =>
    ran.exited.then(() => (ran.end.signal === 'SIGKILL' ? twice.filter(({ what }) => what !== 'a line') : twice));

  return {
    /** Calls of tools, some at once: a call that was lost with its server says so; one that was answered has its own text. */
    mcp({ below, eats }, prefixes = ['']) {
      const opened = ask('initialize', {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'chaos', version: '1' },
      });
      const calls = Array.from({ length: 6 }, (_, n) => {
        const isSlow = below(2) === 0;
        const text = `text ${n}`;
        const input = isSlow ? { text, ms: below(400) } : { text };
        const name = `${prefixes[n % prefixes.length]}${eats && n === 3 ? 'eat' : isSlow ? 'slow' : 'echo'}`;
        const call = opened.then(async () => {
          if (n === 0) send({ method: 'notifications/initialized' });
          await wait(n * 60);
          return ask('tools/call', { name, arguments: input });
        });
        return owed(ran, `call ${n}`, call, (message) => wrongCall(message, text));
      });
      return { owed: [owed(ran, 'initialize', opened, wrongResult), ...calls], strays };
    },
    /** Prompts, one after the other. */
    acp({ eats }) {
      const opened = ask('initialize', { protocolVersion: 1, clientCapabilities: {} });
      const session = opened.then(() => ask('session/new', { cwd: '/', mcpServers: [] }));
      const prompt = async (n) => {
        const { result } = await session;
        if (result === undefined) return { result: {} };
        return ask('session/prompt', {
          sessionId: result.sessionId,
          prompt: [{ type: 'text', text: `${eats && n === 1 ? 'eat' : 'prompt'} ${n}` }],
        });
      };
      let before = session;
      const prompts = [0, 1, 2].map((n) => (before = before.then(() => prompt(n))));
      return { owed: [opened, session, ...prompts].map((each, n) => owed(ran, `request ${n}`, each)), strays };
    },
  };
}

/** A server may be away, or not be started: then the error says so. */
const wrongResult = ({ result, error }) =>
  result === undefined && error?.data?.['unwedge/failure'] === undefined
    ? `an error: ${JSON.stringify(error)}`
    : undefined;

/** An answer is the text of the call, or a result that says why there is none. */
function wrongCall({ result, error }, text) {
  if (result === undefined) return `an error of the protocol: ${JSON.stringify(error)}`;
  const said = result.content?.[0]?.text;
  if (result.isError === true ? typeof said !== 'string' || said === '' : said !== text)
    return `the answer ${JSON.stringify(result)}`;
  return undefined;
}

/** Requests by HTTP to a program that says where it listens. */
export function httpClient(ran, { below, kept, eats }, place) {
  const request = async (path, { body, headers, method = 'POST' } = {}) => {
    const url = await place;
    if (url === undefined) throw new Error('it did not say where it listens');
    const sent = {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      signal: AbortSignal.timeout(patienceMs),
    };
    const response = await fetch(`${url}${path}`, body === undefined ? sent : { ...sent, body: JSON.stringify(body) });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const strays = async () => [];

  return {
    mcp() {
      const accept = { accept: 'application/json, text/event-stream' };
      const message = (id, method, params) => ({ jsonrpc: '2.0', ...(id !== undefined && { id }), method, params });
      const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'chaos', version: '1' } };
      const opened = request('', { body: message(0, 'initialize', params), headers: accept });
      const calls = Array.from({ length: 6 }, (_, n) => {
        const isSlow = below(2) === 0;
        const input = { text: `text ${n}`, ms: below(400) };
        const call = opened.then(async ({ headers }) => {
          const session = { ...accept, 'mcp-session-id': headers.get('mcp-session-id') };
          if (n === 0)
            await request('', { body: message(undefined, 'notifications/initialized', {}), headers: session });
          await wait(n * 60);
          return request('', {
            body: message(n + 1, 'tools/call', {
              name: eats && n === 3 ? 'eat' : isSlow ? 'slow' : 'echo',
              arguments: input,
            }),
            headers: session,
          });
        });
        return owed(ran, `call ${n}`, call, ({ status, text }) =>
          status === 200 ? wrongCall(messageIn(text, n + 1), input.text) : `status ${status} ${text.slice(0, 200)}`,
        );
      });
      return {
        owed: [
          owed(ran, 'initialize', opened, ({ status, text }) =>
            status === 200 ? undefined : `status ${status} ${text}`,
          ),
          ...calls,
        ],
        strays,
      };
    },
    model() {
      const asks = Array.from({ length: 6 }, async (_, n) => {
        const stream = below(2) === 0;
        await wait(n * 60);
        const asked = request('/v1/messages', {
          body: { model: 'm', max_tokens: 9, stream, messages: [{ role: 'user', content: `text ${n}` }] },
        });
        // A stream that broke with its API is cut: its client asks again.
        return owed(
          ran,
          `request ${n}`,
          stream ? asked.catch((error) => cutOr(error)) : asked,
          ({ status, text, cut }) => {
            if (cut || status >= 500) return undefined;
            return status === 200 && text.includes(`text ${n}`) && (!stream || text.includes('message_stop'))
              ? undefined
              : `status ${status} ${text.slice(0, 300)}`;
          },
        );
      });
      return { owed: asks, strays };
    },
    /** Messages under keys of their own; those of earlier rounds that were accepted must be there, and come to an end. */
    serve() {
      const before = [...kept].map(([id, { session }]) =>
        owed(ran, `message ${id} of an earlier start`, endOf(session, id), (state) => {
          if (!['done', 'failed', 'dead'].includes(state)) return `it is ${state}`;
          kept.delete(id);
          return undefined;
        }),
      );
      const session = `s-${below(3)}`;
      const opened = request('/v1/sessions', { body: { id: session } });
      const messages = Array.from({ length: 5 }, (_, n) => {
        const isSlow = below(2) === 0;
        const tool = {
          server: 'tools',
          name: eats && n === 3 ? 'eat' : isSlow ? 'slow' : 'echo',
          arguments: { text: `text ${n}`, ms: below(300) },
        };
        const sent = opened.then(async () => {
          await wait(n * 60);
          const wait_ = below(2) === 0 ? '?wait=20s' : '';
          const answer = await request(`/v1/sessions/${session}/messages${wait_}`, {
            body: { tool },
            headers: { 'idempotency-key': `${Date.now()} ${n} ${below(1e9)}` },
          });
          const { id, durable } = JSON.parse(answer.text);
          if (id !== undefined && (durable ?? true)) kept.set(id, { session });
          return answer;
        });
        return owed(ran, `message ${n}`, sent, ({ status, text }) =>
          [200, 202].includes(status) ? undefined : `status ${status} ${text}`,
        );
      });
      return { owed: [...before, ...messages], strays };
    },
  };

  async function endOf(session, id) {
    for (;;) {
      const { status, text } = await request(`/v1/sessions/${session}/messages/${encodeURIComponent(id)}`, {
        method: 'GET',
      });
      const { state } = JSON.parse(text);
      if (status === 404) return 'gone though it was accepted';
      if (status === 200 && !['waiting', 'running'].includes(state)) return state;
      await wait(100);
    }
  }
}

const cutOr = (error) => {
  if (/terminated|socket|other side/i.test(`${error} ${error?.cause}`)) return { cut: true };
  throw error;
};

/** The answer of this id in a body of JSON, or of events. */
function messageIn(text, id) {
  const parts = text.trimStart().startsWith('{')
    ? [text]
    : text.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []));
  return (
    parts.map((part) => JSON.parse(part)).find((message) => message.id === id && message.method === undefined) ?? {}
  );
}
