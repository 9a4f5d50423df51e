import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CreateMessageRequestSchema, type CreateMessageResult } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listProcessesNow } from '../../../../src/actors/process/processTable.ts';
import { allGone } from '../../../actors/process/startProcess.ts';
import { fixture } from '../../../cli/startRun.ts';
import { deferred } from '../../../support/deferred.ts';
import { processesOf } from '../../../support/processesOf.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { type ModernScenario, playModern } from '../conformance/modern.ts';
import { record, type WireMessage } from '../conformance/recording.ts';
import { commandLine, installed } from '../conformance/ways.ts';

const isNotification =
  (method: string) =>
  (message: WireMessage): boolean =>
    message.method === `notifications/${method}`;
const text = (value: string): object => ({
  content: [{ type: 'text', text: expect.stringContaining(value) as string }],
});
const uri = 'demo://resource/dynamic/text/1';

/** The official client in front of the proxy in front of server-everything. */
async function startClient(prepare: (client: Client) => void = () => undefined) {
  const home = temporaryDirectory();
  const env = { HOME: home, UNWEDGE_DB: `${home}/mcp.sqlite` };
  const transport = new StdioClientTransport({
    ...commandLine('through the proxy', [installed('everything')]),
    env,
    stderr: 'ignore',
  });
  const wire = record(transport);
  const client = new Client({ name: 'conformance', version: '1.0.0' }, { capabilities: { sampling: {} } });
  let closed = false;
  client.onclose = () => {
    closed = true;
  };
  onTestFinished(() => client.close());
  prepare(client);
  await client.connect(transport);
  return {
    client,
    wire,
    disconnected: () => closed,
    /** Kills the server of the moment, and waits until it is gone. */
    async kill(): Promise<void> {
      // The proxy has another child, its guard.
      const servers = processesOf(installed('everything'));
      const server = listProcessesNow().find(({ pid, parent }) => parent === transport.pid && servers.includes(pid));
      if (server === undefined) throw new Error('There is no server');
      const { pid } = server;
      process.kill(pid, 'SIGKILL');
      await allGone(pid);
    },
  };
}

describe('the official client whose server is killed behind the proxy', () => {
  it('[P-3] goes on with its subscription and its level of logging', async () => {
    const { client, wire, kill, disconnected } = await startClient();
    await client.listTools();
    await client.setLoggingLevel('error');
    await client.subscribeResource({ uri });
    await kill();
    // It only reads, so it is answered whether or not the proxy had noticed; what follows would be lost if it had not.
    expect(await client.callTool({ name: 'echo', arguments: { message: 'on' } })).toMatchObject(text('Echo: on'));
    const updated = wire.seen(isNotification('resources/updated'));
    await client.callTool({ name: 'toggle-subscriber-updates', arguments: {} });
    expect(await updated).toMatchObject({ params: { uri } });
    // Of level `info`, had the new server not been told.
    await client.unsubscribeResource({ uri });
    expect(wire.received.filter(isNotification('message'))).toEqual([]);
    expect(disconnected()).toBe(false);
  });

  it('[P-3] is answered by the next server what only reads, and does not see that it took two', async () => {
    const { client, wire, kill } = await startClient();
    await client.listTools();
    const long = { name: 'trigger-long-running-operation', arguments: { duration: 0.4, steps: 4 } };
    const running = client.callTool(long, undefined, { onprogress: () => undefined });
    await wire.seen(isNotification('progress'));
    await kill();
    expect(await running).toMatchObject(text('completed'));
  });

  it('[P-3] has what it was asked called off, and answers what the next server asks', async () => {
    const asked = deferred<AbortSignal>();
    let times = 0;
    const answer: CreateMessageResult = { role: 'assistant', model: 'm', content: { type: 'text', text: 'fine' } };
    const { client, kill } = await startClient((each) => {
      each.setRequestHandler(CreateMessageRequestSchema, (_, { signal }) => {
        if (++times !== 2) return answer;
        asked.resolve(signal);
        return new Promise(() => undefined);
      });
    });
    const sample = { name: 'trigger-sampling-request', arguments: { prompt: 'why?' } };
    // The client does not take the id 0 of a first question for one that can be called off.
    expect(await client.callTool(sample)).toMatchObject(text('fine'));
    const lost = client.callTool(sample);
    const signal = await asked.promise;
    const calledOff = new Promise((resolve) => {
      signal.addEventListener('abort', resolve);
    });
    await kill();
    await calledOff;
    expect(await lost).toMatchObject({ isError: true, ...text('unknown') });
    expect(await client.callTool(sample)).toMatchObject(text('fine'));
  });
});

describe('a client of the era without a handshake whose server is killed behind the proxy', () => {
  const server = [fixture('mcpModern.mjs')];
  const scenario = (run: ModernScenario['run']): ModernScenario => ({
    says: 'goes on',
    server,
    mode: { pin: '2026-07-28' },
    run,
  });

  it('[P-3] goes on listening', async () => {
    const { received } = await playModern(
      'through the proxy',
      scenario(async ({ client, wire }) => {
        const subscription = await client.listen({ toolsListChanged: true, resourceSubscriptions: ['modern://plain'] });
        expect(await client.callTool({ name: 'die' })).toMatchObject({ isError: true, ...text('unknown') });
        await client.callTool({ name: 'update', arguments: { uri: 'modern://plain' } });
        await wire.seen(isNotification('resources/updated'));
        await subscription.close();
      }),
    );
    expect(received.filter(isNotification('subscriptions/acknowledged'))).toHaveLength(1);
  });

  it('[P-3] that has sent nothing but its probe finds a server again', async () => {
    await playModern(
      'through the proxy',
      scenario(async ({ client }) => {
        await client.callTool({ name: 'die' });
        expect((await client.discover()).supportedVersions).toContain('2026-07-28');
        expect(await client.callTool({ name: 'echo', arguments: { text: 'on' } })).toMatchObject(text('on'));
      }),
    );
  });

  it('[P-3] need not wait for a server of the old era that never answers its probe', async () => {
    await playModern('through the proxy', {
      says: 'falls back',
      server: [fixture('mcpDiesOfProbe.mjs'), 'silent'],
      mode: 'auto',
      run: async ({ client }) => {
        expect(client.getProtocolEra()).toBe('legacy');
        expect(await client.callTool({ name: 'echo', arguments: { text: 'old' } })).toMatchObject(text('old'));
      },
    });
  });
});
