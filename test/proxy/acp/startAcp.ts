import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import { AcpProxy, type AcpProxyOptions } from '../../../proxy/acp/acpProxy.ts';
import { checkAcpProxy } from '../../../proxy/acp/settings.ts';
import type { AskLayers } from '../../../proxy/acp/layers.ts';
import type { WrapServers } from '../../../proxy/acp/wrapServers.ts';
import type { Fact, FactType } from '../../../src/policy/facts/facts.ts';
import { Registry } from '../../../src/runtime/registry.ts';
import { checkGatewayOptions } from '../../../src/runtime/runtimeOptions.ts';
import { type InProcessAcpAgentOptions, SimulatedClock } from '../../../testing/index.ts';
import type { WireMessage } from '../../support/wire.ts';
import { agentTarget } from './agentTarget.ts';

export interface StartOptions extends Partial<AcpProxyOptions> {
  /** Of each start of the agent. @defaultValue one that does all right */
  readonly agent?: InProcessAcpAgentOptions | ((start: number) => InProcessAcpAgentOptions);
  readonly inbox?: boolean;
  readonly wrap?: WrapServers;
  readonly layers?: AskLayers;
  readonly policies?: Parameters<typeof checkGatewayOptions>[0]['policies'];
  readonly agentProfiles?: Parameters<typeof checkGatewayOptions>[0]['agentProfiles'];
}

/** An agent in this process behind a proxy, on simulated time, and a raw client of it. */
export async function startAcp({
  agent = {},
  inbox = false,
  wrap,
  layers,
  policies,
  agentProfiles,
  ...options
}: StartOptions = {}) {
  const clock = new SimulatedClock();
  const registry = new Registry(
    checkGatewayOptions({
      clock,
      random: () => 0.5,
      policies,
      agentProfiles,
      ...(inbox && { inbox, store: ':memory:' }),
    }),
  );
  const { runtime } = registry;
  const target = agentTarget(typeof agent === 'function' ? agent : () => agent);
  const facts: Fact[] = [];
  const messages: WireMessage[] = [];
  const said: string[] = [];
  let errors = '';
  let raw = '';
  runtime.bus.on('*', (fact) => void facts.push(fact));
  const input = new PassThrough();
  const output = new PassThrough();
  output.on('data', (chunk: Buffer) => {
    raw += chunk.toString();
    const lines = raw.split('\n');
    raw = lines.pop() ?? '';
    for (const line of lines) messages.push(JSON.parse(line) as WireMessage);
  });
  await registry.start();
  const settings = checkAcpProxy({ name: 'faulty', command: 'faulty-agent', ...options }, runtime);
  const proxy = new AcpProxy(
    runtime,
    { ...settings, target },
    {
      ...{ input, output, hide: (text) => text, say: (line) => said.push(line), wrap, layers },
      errors: (chunk) => (errors += String(chunk)),
    },
  );
  runtime.join(proxy);
  onTestFinished(async () => {
    const stopped = registry.stop();
    await clock.advance(30_000);
    await stopped;
  });
  const send = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const settle = (): Promise<void> => clock.advance(0);
  const answers = (id: unknown): readonly WireMessage[] =>
    messages.filter((each) => each.id === id && each.method === undefined);
  const texts = (sessionId: string): string =>
    messages
      .filter(({ method, params }) => method === 'session/update' && params?.['sessionId'] === sessionId)
      .map(({ params }) => params?.['update'] as { sessionUpdate: string; content?: { text?: string } })
      .filter(({ sessionUpdate }) => sessionUpdate === 'agent_message_chunk')
      .map(({ content }) => content?.text ?? '')
      .join('');
  return {
    ...{ clock, proxy, registry, input, output, messages, said, send, settle, answers, texts },
    agents: target.agents,
    errors: () => errors,
    /** Answer to a request of that id; undefined while there is none. */
    answer: (id: unknown): WireMessage | undefined => answers(id)[0],
    facts: (type: FactType): readonly Fact[] => facts.filter((fact) => fact.type === type),
    request: (id: unknown, method: string, params: object = {}): void => send({ id, method, params }),
    prompt: (id: unknown, text: string, sessionId = 'session-1'): void =>
      send({ id, method: 'session/prompt', params: { sessionId, prompt: [{ type: 'text', text }] } }),
    cancel: (sessionId = 'session-1'): void => send({ method: 'session/cancel', params: { sessionId } }),
    /** Greets, and opens a session. */
    async open(params: object = {}): Promise<string> {
      send({ id: 'i', method: 'initialize', params: { protocolVersion: 1, clientCapabilities: {} } });
      await settle();
      send({ id: 'n', method: 'session/new', params: { cwd: '/', mcpServers: [], ...params } });
      await settle();
      return String(answers('n')[0]?.result?.['sessionId']);
    },
    /** Messages that the agent of that start was sent, from 1. */
    heard: (start = 1): readonly WireMessage[] =>
      (target.agents[start - 1]?.transcript ?? []).map(({ line }) => JSON.parse(line) as WireMessage),
  };
}
