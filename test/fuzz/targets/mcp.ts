import { McpProxy } from '../../../proxy/mcp/mcpProxy.ts';
import { checkMcpProxy } from '../../../proxy/mcp/settings.ts';
import { createPeer, keyOf, type Message, messagesIn, type Peer } from '../peer.ts';
import { counted, ProxyWorld, worlds } from '../proxyWorld.ts';
import { fromMcpClient, fromMcpServer, rpc } from '../seeds.ts';
import { must, pieces, type Target } from '../target.ts';

const tools = [
  { name: 'read', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
  { name: 'write', inputSchema: { type: 'object' } },
];
const capabilities = {
  tools: { listChanged: true },
  resources: { subscribe: true },
  prompts: {},
  logging: {},
  completions: {},
};

/** What a server answers that does all right. */
function resultOf(method: unknown): object {
  if (method === 'initialize')
    return { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 's', version: '1' } };
  if (method === 'tools/list') return { tools };
  return { content: [{ type: 'text', text: 'done' }] };
}

/** A proxy whose session is open, with a server that does what `heard` does with each of its messages. */
async function open(heard: (message: Message, peer: Peer) => void) {
  const peer = createPeer(heard);
  const world = new ProxyWorld((runtime, around) => {
    const settings = checkMcpProxy({ name: 'kb', command: 'peer' }, runtime);
    runtime.join(new McpProxy(runtime, { ...settings, server: peer }, around));
  });
  await world.start();
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: { sampling: {}, elicitation: {}, roots: {} },
    clientInfo: { name: 'c', version: '1' },
  };
  world.write(
    rpc({ id: 'open', method: 'initialize', params }) +
      rpc({ method: 'notifications/initialized' }) +
      rpc({ id: 'list', method: 'tools/list' }),
  );
  await world.settle();
  must(counted(world.take(), 'answers').size === 2, 'the session did not begin');
  return { world, peer, stop: () => world.stop() };
}

/** Requests whose answer is not to come while their client wants them. */
const isHeld = ({ method }: Message): boolean => method === 'subscriptions/listen';
/** Ids that the client calls off. */
const calledOff = (text: string): Set<string | undefined> =>
  new Set(
    messagesIn(text)
      .filter(({ method }) => method === 'notifications/cancelled')
      .map(({ params }) => keyOf((params as { requestId?: unknown } | null)?.requestId)),
  );

/** Lines of a client of `unwedge mcp`: each request gets one answer, and what is no request none. */
export function mcpClient(): Target {
  const all = worlds(() =>
    open((message, peer) => {
      if (keyOf(message.id) !== undefined && typeof message.method === 'string')
        peer.say(rpc({ id: message.id, result: resultOf(message.method) }));
    }),
  );
  return {
    seeds: fromMcpClient,
    async run(input, random) {
      const { world } = await all.get();
      for (const piece of pieces(input, random)) world.write(piece);
      world.write('\n');
      await world.settle();
      // Within a line a carriage return is but a space to it.
      const text = input.toString('utf8').replaceAll('\r', ' ');
      let read = world.take();
      const asked = counted(text, 'requests');
      if (missing(asked, read).length > 0) {
        await world.clock.advance(2 * 3_600_000);
        read += world.take();
      }
      const off = calledOff(text);
      const held = new Set(
        messagesIn(text)
          .filter(isHeld)
          .map(({ id }) => keyOf(id)),
      );
      const answers = counted(read, 'answers');
      try {
        for (const [key, count] of asked) {
          const got = answers.get(key) ?? 0;
          must(got <= count, `${key} was asked ${count} times and answered ${got} times`);
          if (!off.has(key) && !held.has(key))
            must(got === count, `${key} was asked ${count} times and answered ${got} times`);
        }
        for (const key of answers.keys()) must(asked.has(key) || off.has(key), `${key} was answered and never asked`);
      } catch (error) {
        await all.drop();
        throw error;
      }
      if (held.size > 0) await all.drop();
    },
    close: () => all.drop(),
  };
}

function missing(asked: ReadonlyMap<string, number>, read: string): string[] {
  const answers = counted(read, 'answers');
  return [...asked].filter(([key, count]) => (answers.get(key) ?? 0) < count).map(([key]) => key);
}

/** Lines of a server behind `unwedge mcp`: whatever it says, each request of the client gets one answer, and the client reads nothing but messages. */
export function mcpServer(): Target {
  let asked: unknown[] = [];
  let answered = new Map<string, number>();
  const all = worlds(() =>
    open((message, peer) => {
      if (typeof message.method === 'string' && keyOf(message.id) !== undefined) {
        if (message.method === 'tools/call' || message.method === 'resources/read') asked.push(message);
        else peer.say(rpc({ id: message.id, result: resultOf(message.method) }));
      } else if (message.method === undefined) {
        const key = keyOf(message.id);
        if (key !== undefined) answered.set(key, (answered.get(key) ?? 0) + 1);
      }
    }),
  );
  let next = 0;
  return {
    seeds: fromMcpServer,
    words: ['"ID0"', '"ID1"', '"ID2"', '"TOKEN"'],
    async run(input, random) {
      const { world, peer } = await all.get();
      asked = [];
      answered = new Map();
      const ids = [`c${++next}`, ++next, `c${++next}`];
      const params = { arguments: { a: 1 }, _meta: { progressToken: `p${next}` } };
      world.write(
        rpc({ id: ids[0], method: 'tools/call', params: { name: 'read', ...params } }) +
          rpc({ id: ids[1], method: 'tools/call', params: { name: 'write', arguments: {} } }) +
          rpc({ id: ids[2], method: 'resources/read', params: { uri: `a:${next}` } }),
      );
      await world.settle();
      const open = asked as { id: unknown; params?: { _meta?: { progressToken?: unknown } } }[];
      let text = input.toString('latin1');
      for (const index of [0, 1, 2]) text = text.replaceAll(`"ID${index}"`, () => JSON.stringify(open[index]?.id ?? 0));
      text = text.replaceAll('"TOKEN"', () => JSON.stringify(open[0]?.params?._meta?.progressToken ?? 0));
      for (const piece of pieces(Buffer.from(text, 'latin1'), random)) peer.say(piece);
      peer.say('\n');
      await world.settle();
      let read = world.take();
      // The client answers what it is asked.
      for (const [key] of counted(read, 'requests'))
        world.write(rpc({ id: JSON.parse(key) as unknown, result: { roots: [] } }));
      for (const { id } of open) peer.say(rpc({ id, result: { content: [] } }));
      await world.settle();
      read += world.take();
      const keys = ids.map((id) => keyOf(id) ?? '');
      if (keys.some((key) => !counted(read, 'answers').has(key))) {
        await world.clock.advance(3_600_000);
        read += world.take();
      }
      const answers = counted(read, 'answers');
      try {
        for (const key of keys) must(answers.get(key) === 1, `${key} was answered ${answers.get(key) ?? 0} times`);
        // A message may be glued to what was printed before it.
        const requests = counted(text.replaceAll(/^.+?(?=\{"jsonrpc")/gm, ''), 'requests');
        for (const [key, count] of answered)
          must(count <= Math.max(1, requests.get(key) ?? 0), `the server got ${count} answers to ${key}`);
      } catch (error) {
        await all.drop();
        throw error;
      }
    },
    close: () => all.drop(),
  };
}
