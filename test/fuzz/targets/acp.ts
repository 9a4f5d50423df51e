import { AcpProxy } from '../../../proxy/acp/acpProxy.ts';
import { checkAcpProxy } from '../../../proxy/acp/settings.ts';
import { createPeer, keyOf, type Message, type Peer } from '../peer.ts';
import { counted, ProxyWorld, worlds } from '../proxyWorld.ts';
import { rounds, rpc } from '../seeds.ts';
import { must, pieces, type Target } from '../target.ts';

function resultOf(method: unknown): object {
  if (method === 'initialize')
    return {
      protocolVersion: 1,
      agentCapabilities: { loadSession: true, promptCapabilities: { image: true } },
      authMethods: [{ id: 'a', name: 'A' }],
    };
  if (method === 'session/new') return { sessionId: 's1', modes: { currentModeId: 'm', availableModes: [] } };
  if (method === 'session/prompt') return { stopReason: 'end_turn' };
  return {};
}

async function open(heard: (message: Message, peer: Peer) => void) {
  const peer = createPeer(heard);
  const world = new ProxyWorld((runtime, around) => {
    const settings = checkAcpProxy({ name: 'agent', command: 'peer' }, runtime);
    runtime.join(new AcpProxy(runtime, { ...settings, target: peer }, around));
  });
  await world.start();
  world.write(
    rpc({
      id: 'i',
      method: 'initialize',
      params: {
        protocolVersion: 1,
        clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
      },
    }),
  );
  await world.settle();
  world.write(rpc({ id: 'n', method: 'session/new', params: { cwd: '/', mcpServers: [] } }));
  await world.settle();
  must(counted(world.take(), 'answers').size === 2, 'the session did not begin');
  return { world, peer, stop: () => world.stop() };
}

const prompt = (id: unknown, text = 'do it') =>
  rpc({ id, method: 'session/prompt', params: { sessionId: 's1', prompt: [{ type: 'text', text }] } });
const update = (fields: object) => rpc({ method: 'session/update', params: { sessionId: 's1', update: fields } });

/** Lines of an editor: each request gets one answer. */
export function acpClient(): Target {
  const all = worlds(() =>
    open((message, peer) => {
      if (keyOf(message.id) !== undefined && typeof message.method === 'string')
        peer.say(rpc({ id: message.id, result: resultOf(message.method) }));
    }),
  );
  return {
    seeds: [
      prompt(1),
      prompt('a') + rpc({ method: 'session/cancel', params: { sessionId: 's1' } }),
      rpc({
        id: 2,
        method: 'session/new',
        params: { cwd: '/', mcpServers: [{ name: 'x', command: 'y', args: [], env: [] }] },
      }),
      rpc({ id: 3, method: 'session/load', params: { sessionId: 's1', cwd: '/', mcpServers: [] } }),
      rpc({ id: 4, method: 'session/set_mode', params: { sessionId: 's1', modeId: 'm' } }) +
        rpc({ id: 5, method: 'authenticate', params: { methodId: 'a' } }),
      rpc({ id: 6, method: 'initialize', params: { protocolVersion: 1 } }) + rpc({ id: 7, method: '_x/y', params: {} }),
      rpc({ id: 'q', result: { outcome: { outcome: 'selected', optionId: 'o' } } }),
      rpc({ id: 8, method: 'session/list', params: {} }) +
        rpc({ method: '$/cancel_request', params: { requestId: 8 } }),
    ],
    async run(input, random) {
      const { world } = await all.get();
      for (const piece of pieces(input, random)) world.write(piece);
      world.write('\n');
      await world.settle();
      let read = world.take();
      const text = input.toString('utf8');
      const asked = counted(text, 'requests');
      const lacking = (): boolean =>
        [...asked].some(([key, count]) => (counted(read, 'answers').get(key) ?? 0) < count);
      if (lacking()) {
        await world.clock.advance(2 * 3_600_000);
        read += world.take();
      }
      const answers = counted(read, 'answers');
      try {
        for (const [key, count] of asked)
          must(
            answers.get(key) === count,
            `${key} was asked ${count} times and answered ${answers.get(key) ?? 0} times`,
          );
        for (const key of answers.keys()) must(asked.has(key), `${key} was answered and never asked`);
      } catch (error) {
        await all.drop();
        throw error;
      }
    },
    close: () => all.drop(),
  };
}

/** Lines of an agent in the middle of a turn: its prompt gets one answer, and the editor reads nothing but messages. */
export function acpAgent(): Target {
  let asked: Message[] = [];
  const all = worlds(() =>
    open((message, peer) => {
      if (typeof message.method !== 'string' || keyOf(message.id) === undefined) return;
      if (message.method === 'session/prompt') asked.push(message);
      else peer.say(rpc({ id: message.id, result: resultOf(message.method) }));
    }),
  );
  let next = 0;
  return {
    seeds: [
      ...rounds('acpRounds.json').map((text) => text.slice(0, 3000)),
      update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'hello' } }) +
        rpc({ id: 'ID0', result: { stopReason: 'end_turn' } }),
      update({
        sessionUpdate: 'tool_call',
        toolCallId: 't1',
        title: 'ls',
        kind: 'execute',
        status: 'pending',
        rawInput: {},
      }) + update({ sessionUpdate: 'tool_call_update', toolCallId: 't1', status: 'completed', content: [] }),
      rpc({
        id: 1,
        method: 'session/request_permission',
        params: {
          sessionId: 's1',
          toolCall: { toolCallId: 't1' },
          options: [{ optionId: 'o', name: 'Yes', kind: 'allow_once' }],
        },
      }),
      rpc({ id: 2, method: 'fs/read_text_file', params: { sessionId: 's1', path: '/a' } }) +
        rpc({ id: 3, method: 'terminal/create', params: { sessionId: 's1', command: 'ls' } }),
      rpc({ id: 'ID0', error: { code: -32603, message: 'Internal error', data: { details: '529 Overloaded' } } }),
      rpc({ id: 'ID0', result: { stopReason: 'refusal' } }) + rpc({ id: 'ID0', result: { stopReason: 'end_turn' } }),
      'words {"jsonrpc":"2.0","id":"ID0","result":{"stopReason":"cancelled"}}\n',
    ],
    words: ['"ID0"', '"s1"', '"t1"'],
    async run(input, random) {
      const { world, peer } = await all.get();
      asked = [];
      const id = `p${++next}`;
      world.write(prompt(id, `say ${next}`));
      await world.settle();
      const text = input.toString('latin1').replaceAll('"ID0"', () => JSON.stringify(asked[0]?.id ?? 0));
      for (const piece of pieces(Buffer.from(text, 'latin1'), random)) peer.say(piece);
      peer.say('\n');
      await world.settle();
      let read = world.take();
      for (const [key] of counted(read, 'requests')) world.write(rpc({ id: JSON.parse(key) as unknown, result: {} }));
      for (const { id: wire } of asked) peer.say(rpc({ id: wire, result: { stopReason: 'end_turn' } }));
      await world.settle();
      read += world.take();
      const key = keyOf(id) ?? '';
      for (let tries = 0; tries < 3 && !counted(read, 'answers').has(key); tries++) {
        await world.clock.advance(3_600_000);
        read += world.take();
      }
      const count = counted(read, 'answers').get(key) ?? 0;
      try {
        must(count === 1, `a prompt was answered ${count} times`);
      } catch (error) {
        await all.drop();
        throw error;
      }
    },
    close: () => all.drop(),
  };
}
