import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openReader } from '../../../../reader/openReader.ts';
import {
  createGateway,
  type Gateway,
  type GatewayOptions,
  type TransportMcpOptions,
  type Turn,
} from '../../../../src/index.ts';
import { fakeMcpServer } from '../../../../testing/fakeMcpServer.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';

const made: string[] = [];
const tool = (name: string) => () => {
  made.push(name);
  return `${name} was here`;
};
const { connect } = fakeMcpServer({
  tools: { read_file: tool('read_file'), write_file: tool('write_file'), delete_file: tool('delete_file') },
});

async function start(options: Partial<TransportMcpOptions>, more: GatewayOptions = {}) {
  made.length = 0;
  const gateway = createGateway({ logger: false, control: false, ...more });
  onTestFinished(() => gateway.stop());
  const files = gateway.mcpServer('files', { connect, ...options });
  await gateway.start();
  return { gateway, files };
}

const named = async (files: ReturnType<Gateway['mcpServer']>): Promise<readonly string[]> => {
  const outcome = await files.tools();
  return outcome.ok ? outcome.value.map(({ name }) => name) : [];
};

describe('tools of `gateway.mcpServer` by rule', () => {
  it('[P-11] are listed and called as the rules say', async () => {
    const { files } = await start({ deny: ['delete_*'], tools: { 'read_*': { rename: 'get_*', describe: 'Gets' } } });
    expect(await named(files)).toEqual(['get_file', 'write_file']);
    expect(files.knownTools?.tools[0]).toMatchObject({ name: 'get_file', description: 'Gets' });
    expect(await files.call({ name: 'get_file' })).toMatchObject({ ok: true });
    expect(await files.call({ name: 'read_file' })).toMatchObject({
      failure: {
        kind: 'permanent',
        reason: 'denied',
        outcome: 'not_started',
        message: expect.stringContaining('get_file') as string,
      },
    });
    expect(await files.call({ name: 'delete_file' })).toMatchObject({
      failure: {
        kind: 'permanent',
        outcome: 'not_started',
        message: expect.stringContaining('`deny: delete_*`') as string,
      },
    });
    expect(made).toEqual(['read_file']);
  });

  it('[P-11] are the same before the list is known and after it, where a new name is another tool’s own', async () => {
    const server = fakeMcpServer({ tools: { list: tool('list'), remove: tool('remove') } });
    const { files } = await start({ connect: server.connect, tools: { remove: { rename: 'list' } } });
    for (let at = 0; at < 2; at++) {
      expect(await files.call({ name: 'list' })).toMatchObject({ ok: true });
      await files.tools();
    }
    expect(made).toEqual(['list', 'list']);
  });

  it('[P-11] count nothing against the server', async () => {
    const { files } = await start({ deny: ['delete_*'] });
    for (let at = 0; at < 10; at++) await files.call({ name: 'delete_file' });
    expect(files.breaker.state).toBe('closed');
    expect(await files.call({ name: 'read_file' })).toMatchObject({ ok: true });
  });

  it('[P-11] are refused where code and configuration give two tools one name, with both places', () => {
    const policies = { integrations: { files: { tools: { read_file: { rename: 'r' } } } } };
    const declare = (): unknown =>
      createGateway({ policies }).mcpServer('files', { connect, tools: { write_file: { rename: 'r' } } });
    expect(declare).toThrow(/`files\.tools\.\w+_file\.rename` .*got r, which `\w+_file` has/);
    expect(declare).toThrow('in code and in `policies.integrations.files` together');
  });

  it('[P-11] [O-13] refuse, which is no failed call in reports, in status and of a session', async () => {
    const directory = temporaryDirectory();
    const store = join(directory, 'gateway.sqlite');
    const { gateway, files } = await start({ deny: ['delete_*'] }, { store });
    const session = gateway.session('agent:main', {
      onMessage: async (_, turn) => {
        await turn.tool(files, 'delete_file', {});
        await turn.tool(files, 'read_file', {});
      },
    });
    const sent = await session.send({ kind: 'user', text: 'go' });
    if (sent.accepted) await sent.processed;
    await gateway.stop();
    const reader = await openReader(store);
    onTestFinished(() => reader.close());
    const now = Date.now();
    const { integrations, sessions } = await reader.status(now);
    expect(sessions).toEqual([expect.not.objectContaining({ failedCalls24h: expect.anything() as number })]);
    expect(sessions[0]?.lastError).toBeUndefined();
    expect(integrations.filter(({ lastError }) => lastError !== undefined)).toEqual([]);
    const figures = (await reader.statistics(now - 3_600_000, 'whole')).filter(
      ({ integration }) => integration === 'files',
    );
    expect(figures.map(({ succeeded, failed, refused }) => [succeeded, failed, refused])).toEqual([[1, {}, 1]]);
  });

  it('[P-11] may be configured from outside, which only narrows what the code allows', async () => {
    const policies = {
      integrations: { files: { allow: ['read_*', 'delete_*'], tools: { read_file: { rename: 'r' } } } },
    };
    const { files } = await start({ allow: ['*_file'], deny: ['delete_file'] }, { policies });
    expect(await named(files)).toEqual(['r']);
  });

  it('[P-11] hold for the calls of a session, with the settings of the tool behind a new name', async () => {
    const { gateway } = await start({ deny: ['delete_*'], tools: { read_file: { rename: 'r', effect: 'readOnly' } } });
    const results: unknown[] = [];
    const onMessage = async (_: unknown, turn: Turn): Promise<void> => {
      for (const name of ['r', 'delete_file']) results.push(await turn.tool('files', name, {}));
    };
    const accepted = await gateway.session('one', { onMessage }).send({ kind: 'user', text: 'go' });
    expect(accepted.accepted && (await accepted.processed)).toMatchObject({ ok: true });
    expect(results).toMatchObject([
      { status: 'ok' },
      { status: 'error', error: expect.stringContaining('`deny: delete_*`') as string },
    ]);
    expect(made).toEqual(['read_file']);
  });

  it.each([
    [
      { tools: { a: { rename: 'x' }, b: { rename: 'x' } } },
      'Expected `files.tools.b.rename` to be a name of its own, got x',
    ],
    [{ deny: 'delete_file' }, 'Expected `files.deny` to be an array of names or patterns, got "delete_file"'],
  ])('[P-11] are refused where they cannot be: %j', (options, message) => {
    const gateway = createGateway({ logger: false });
    expect(() => gateway.mcpServer('files', { connect, ...(options as object) })).toThrow(message);
  });

  it('[P-11] are none of what is no server', () => {
    const gateway = createGateway({ logger: false, policies: { integrations: { http: { deny: ['x'] } } } });
    expect(() => gateway.integration('f', { tools: { a: { rename: 'b' } } }, () => 1)).toThrow(
      'Expected no `rename` and no `describe` in `f.tools`',
    );
    expect(() => gateway.http('http', { baseUrl: 'http://127.0.0.1:1' })).toThrow(
      /`policies.integrations.http.deny` to be left out/,
    );
  });
});
