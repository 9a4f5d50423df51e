import {
  Client,
  type ClientOptions,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, onTestFinished } from 'vitest';
import { fixture } from '../../../cli/startRun.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { comparable, record, type Recording, type Transcript, type WireMessage } from './recording.ts';
import { commandLine, installed, offer, type Way } from './ways.ts';

interface ModernSession {
  readonly client: Client;
  readonly wire: Recording;
}

/** One thing a client of the new era does with a server of either era. */
export interface ModernScenario {
  readonly says: string;
  readonly server: readonly string[];
  readonly mode: VersionNegotiationMode;
  readonly options?: ClientOptions | undefined;
  readonly prepare?: ((client: Client) => void) | undefined;
  readonly run: (session: ModernSession) => Promise<void>;
}

async function transportOf(
  way: Way,
  server: readonly string[],
  env: Record<string, string>,
): Promise<StdioClientTransport | StreamableHTTPClientTransport> {
  if (way !== 'by HTTP') return new StdioClientTransport({ ...commandLine(way, server), env, stderr: 'ignore' });
  const { url, requestInit } = await offer(server, env);
  return new StreamableHTTPClientTransport(url, { requestInit });
}

/** Plays a scenario to its end and hands back what crossed the wire. */
export async function playModern(way: Way, scenario: ModernScenario): Promise<Transcript> {
  const { server, mode, options, prepare, run } = scenario;
  const home = temporaryDirectory();
  const env = { HOME: home, UNWEDGE_DB: `${home}/mcp.sqlite` };
  const transport = await transportOf(way, server, env);
  const wire = record(transport);
  const client = new Client({ name: 'conformance', version: '1.0.0' }, { ...options, versionNegotiation: { mode } });
  onTestFinished(() => client.close());
  prepare?.(client);
  await client.connect(transport);
  await run({ client, wire });
  const transcript = comparable({ sent: [...wire.sent], received: [...wire.received] }, home);
  await client.close();
  return transcript;
}

const revision = '2026-07-28';
const pinned = { server: [fixture('mcpModern.mjs')], mode: { pin: revision } } as const;
const modernOnly = [fixture('mcpModern.mjs'), 'modern-only'];
const isNotification =
  (method: string) =>
  (message: WireMessage): boolean =>
    message.method === `notifications/${method}`;
const said = (text: string): object => ({ content: [{ type: 'text', text }] });
const elicitation = (client: Client): void => {
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { sure: true } }));
};

/** What a client of the new era does with a server of its own. */
export const modern: readonly ModernScenario[] = [
  {
    ...pinned,
    says: 'discovers what the server is and can',
    run: async ({ client, wire }) => {
      expect(client.getProtocolEra()).toBe('modern');
      expect(client.getServerCapabilities()).toMatchObject({ resources: { subscribe: true } });
      expect(client.getInstructions()).toBe('Speaks modern.');
      expect((await client.discover()).supportedVersions).toContain(revision);
      expect(wire.sent.map(({ method }) => method)).not.toContain('initialize');
    },
  },
  {
    ...pinned,
    server: modernOnly,
    says: 'calls tools, reads, prompts and gets errors, with its envelope on every request',
    run: async ({ client, wire }) => {
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('confirm');
      expect(await client.callTool({ name: 'echo', arguments: { text: 'é\u2028😀' } })).toMatchObject(
        said('é\u2028😀'),
      );
      expect(await client.callTool({ name: 'era' })).toMatchObject(said('modern conformance'));
      expect(await client.callTool({ name: 'fail' })).toMatchObject({ isError: true });
      await expect(client.callTool({ name: 'nope' })).rejects.toMatchObject({ code: -32602 });
      expect((await client.listResources()).resources).toHaveLength(1);
      expect((await client.listResourceTemplates()).resourceTemplates).toHaveLength(1);
      const { contents } = await client.readResource({ uri: 'modern://items/7' });
      expect(contents).toMatchObject([{ text: 'item 7' }]);
      expect((await client.getPrompt({ name: 'greet', arguments: { name: 'Ann' } })).messages).toHaveLength(1);
      await expect(client.readResource({ uri: 'modern://nowhere' })).rejects.toMatchObject({ code: -32602 });
      for (const { method, params } of wire.sent.filter(({ id }) => id !== undefined)) {
        const envelope = { 'io.modelcontextprotocol/protocolVersion': revision };
        expect({ method, params }).toMatchObject({ params: { _meta: envelope } });
      }
    },
  },
  {
    ...pinned,
    says: 'is told of progress, cancels a call, and goes on',
    run: async ({ client, wire }) => {
      await client.callTool({ name: 'steps', arguments: { count: 3 } }, { onprogress: () => undefined });
      expect(wire.received.filter(isNotification('progress'))).toHaveLength(3);
      const controller = new AbortController();
      const hang = client.callTool(
        { name: 'hang' },
        { signal: controller.signal, onprogress: () => controller.abort('enough') },
      );
      await expect(hang).rejects.toThrow('enough');
      expect(await client.callTool({ name: 'echo', arguments: { text: 'on' } })).toMatchObject(said('on'));
    },
  },
  {
    ...pinned,
    says: 'gives the input that a call requires',
    options: { capabilities: { elicitation: { form: {} } } },
    prepare: elicitation,
    run: async ({ client, wire }) => {
      expect(await client.callTool({ name: 'confirm' })).toMatchObject(said('sure: true'));
      expect(wire.sent.filter(({ method }) => method === 'tools/call')).toHaveLength(2);
      expect(JSON.stringify(wire.sent.at(-1))).toContain('asked once');
    },
  },
  {
    ...pinned,
    says: 'asks for log messages in its requests',
    run: async ({ client, wire }) => {
      const call = (level: string) =>
        client.callTool({
          name: 'log',
          arguments: { level },
          _meta: { 'io.modelcontextprotocol/logLevel': 'warning' },
        });
      await call('info');
      await call('error');
      expect(wire.received.filter(isNotification('message'))).toMatchObject([{ params: { level: 'error' } }]);
    },
  },
  {
    ...pinned,
    says: 'listens to changes, and stops to listen',
    run: async ({ client, wire }) => {
      const uri = 'modern://plain';
      const filter = { toolsListChanged: true, resourceSubscriptions: [uri] };
      const subscription = await client.listen(filter);
      expect(subscription.honoredFilter).toEqual(filter);
      await client.callTool({ name: 'grow' });
      await wire.seen(isNotification('tools/list_changed'));
      await client.callTool({ name: 'update', arguments: { uri } });
      expect(await wire.seen(isNotification('resources/updated'))).toMatchObject({ params: { uri } });
      await subscription.close();
      expect(await subscription.closed).toBe('local');
      await client.callTool({ name: 'update', arguments: { uri } });
      await client.callTool({ name: 'echo', arguments: { text: 'quiet' } });
      expect(wire.received.filter(isNotification('resources/updated'))).toHaveLength(1);
    },
  },
];

/** What a client that speaks both eras does with a server of either. */
export const dualEra: readonly ModernScenario[] = [
  {
    ...pinned,
    says: 'finds the new era by its probe',
    mode: 'auto',
    run: async ({ client }) => {
      expect(client.getProtocolEra()).toBe('modern');
      expect(await client.callTool({ name: 'era' })).toMatchObject(said('modern conformance'));
    },
  },
  {
    says: 'falls back to the handshake with a server that refuses the probe',
    server: [installed('everything')],
    mode: 'auto',
    run: async ({ client }) => {
      expect(client.getProtocolEra()).toBe('legacy');
      expect(await client.callTool({ name: 'echo', arguments: { message: 'old' } })).toMatchObject(said('Echo: old'));
    },
  },
  {
    says: 'falls back to the handshake with a server that dies of the probe',
    server: [fixture('mcpDiesOfProbe.mjs')],
    mode: 'auto',
    run: async ({ client }) => {
      expect(client.getProtocolEra()).toBe('legacy');
      expect(await client.callTool({ name: 'echo', arguments: { text: 'old' } })).toMatchObject(said('old'));
    },
  },
  {
    ...pinned,
    says: 'serves a client of the old era',
    mode: 'legacy',
    options: { capabilities: { elicitation: { form: {} } } },
    run: async ({ client }) => {
      expect(client.getProtocolEra()).toBe('legacy');
      expect(await client.callTool({ name: 'era' })).toMatchObject(said('legacy undefined'));
      await client.subscribeResource({ uri: 'modern://plain' }).catch(() => undefined);
    },
  },
];
