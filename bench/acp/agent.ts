import { createInterface } from 'node:readline';

// The least an agent can be, so that what stands in front of it shows: no SDK, no checks, no model.
interface Request {
  readonly id?: string | number | undefined;
  readonly method: string;
  readonly params?: { readonly prompt?: readonly { readonly text?: string }[] };
}

const write = (message: object): void => {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
};
const say = (text: string): void => {
  const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
  write({ method: 'session/update', params: { sessionId: 's', update } });
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line) as Request;
  if (id === undefined) return;
  if (method === 'initialize') write({ id, result: { protocolVersion: 1, agentCapabilities: { loadSession: true } } });
  else if (method === 'session/new') write({ id, result: { sessionId: 's' } });
  else if (method === 'session/prompt') prompted(id, params.prompt?.[0]?.text ?? '');
  else write({ id, result: {} });
});

/** A prompt is `COUNT PACE_MS BURST`: so many updates of 50 characters, that many at a time, each with the time at which it is written, in ns. */
function prompted(id: string | number, text: string): void {
  const [count = 0, paceMs = 0, burst = 1] = text.split(' ').map(Number);
  let left = count;
  const one = (): void => {
    if (left-- > 0) say(`${process.hrtime.bigint()} `.padEnd(50, '.'));
  };
  const end = (): void => write({ id, result: { stopReason: 'end_turn' } });
  if (paceMs === 0) {
    while (left > 0) one();
    end();
    return;
  }
  const timer = setInterval(() => {
    for (let each = 0; each < burst; each++) one();
    if (left > 0) return;
    clearInterval(timer);
    end();
  }, paceMs);
}
