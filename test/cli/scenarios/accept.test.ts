import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../../src/index.ts';
import { fakeMcpServer } from '../../../testing/fakeMcpServer.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { call } from '../startCli.ts';

/** Runs of a gateway on one database, each with a server of these tools, and the command line on it. */
function startHome() {
  const home = temporaryDirectory();
  vi.stubEnv('XDG_RUNTIME_DIR', home);
  const db = join(home, 'gateway.sqlite');
  const start = async (tools: readonly string[], pin = true, of: object = {}) => {
    const gateway = createGateway({ store: db, logger: false });
    onTestFinished(() => gateway.stop());
    const made = Object.fromEntries(tools.map((name) => [name, () => `${name} was here`]));
    const files = gateway.mcpServer('files', {
      connect: () => listing(fakeMcpServer({ tools: made }).connect(), of),
      pin,
    });
    await gateway.start();
    const listed = await files.tools();
    return { gateway, files, listed: listed.ok ? listed.value.map(({ name }) => name) : [] };
  };
  const run = (words: readonly string[], ask?: (question: string) => Promise<string>) =>
    call([...words, '--db', db], { now: () => Date.now(), columns: 100, ...(ask !== undefined && { ask }) });
  return { start, run };
}

type Listed = { result?: { tools?: readonly { readonly name: string }[] } };

/** A peer whose tools, but `read`, are listed with more fields. */
function listing<T extends object>(peer: T, fields: object): T {
  let take: ((message: unknown) => void) | undefined;
  const given = (message: Listed): void => {
    const tools = message.result?.tools?.map((each) => (each.name === 'read' ? each : { ...each, ...fields }));
    take?.(tools === undefined ? message : { ...message, result: { ...message.result, tools } });
  };
  return Object.defineProperty(peer, 'onmessage', {
    get: () => given,
    set(to: typeof take) {
      take = to;
    },
  });
}

describe.skipIf(!hasSqlite)('unwedge accept', () => {
  it('[P-11] shows how tools differ, and accepts them; the gateway that holds them goes on within a second', async () => {
    const { start, run } = startHome();
    await (await start(['read'])).gateway.stop();
    const { gateway, files, listed } = await start(['read', 'more']);
    expect(listed).toEqual(['read']);
    expect(await files.call({ name: 'more' })).toMatchObject({
      failure: { kind: 'permanent', reason: 'held', outcome: 'not_started' },
    });
    expect(await files.call({ name: 'read' })).toMatchObject({ ok: true });
    await gateway.store?.flush();
    const status = (await run(['status'])).stdout.replaceAll(/\s+/g, ' ');
    expect(status).toContain('1 tool of files changed since accepted');
    expect(status).toContain('unwedge accept files');
    expect((await gateway.store?.read({ category: 'alert', limit: 5 })) ?? []).toMatchObject([
      { type: 'raised', metadata: { integration: 'files', because: 'tool' } },
    ]);
    const asked: string[] = [];
    const no = await run(['accept', 'files'], async (question) => {
      asked.push(question);
      return 'n';
    });
    expect([no.code, asked]).toEqual([1, ['Accept? [y/N] ']]);
    const { code, stdout } = await run(['accept', 'files', 'more', '--yes']);
    expect(code).toBe(0);
    expect(stdout).toContain('The tool more of files is new');
    expect(stdout).toContain('+ name: more');
    await expect
      .poll(() => files.knownTools?.tools.map(({ name }) => name), { timeout: 5000 })
      .toEqual(['read', 'more']);
    expect(await files.call({ name: 'more' })).toMatchObject({ ok: true });
    await gateway.stop();
    expect((await start(['read', 'more'])).listed).toEqual(['read', 'more']);
  });

  it('[P-11] shows all that one accepts, escaped and whole, and the inbox leads there', async () => {
    const { start, run } = startHome();
    await (await start(['read'])).gateway.stop();
    await start(['read', 'more'], true, {
      description: `${'y'.repeat(3000)}\u202e EVIL TAIL`,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries([...Array(600).keys()].map((at) => [`p${at}`, {}])),
      },
    });
    const long = (await run(['accept', 'files', 'more'])).stdout;
    expect(long.replaceAll(/\s+/g, ' ')).toContain(String.raw`\u{202e} EVIL TAIL`);
    expect(long).toMatch(/… and \d+ more lines, which --all shows/);
    const all = (await run(['accept', 'files', 'more', '--all'])).stdout;
    expect(all.match(/p\d+: \{\}/g)).toHaveLength(600);
    expect((await run(['inbox'])).stdout).toContain('unwedge accept files');
  });

  it('[P-11] accepts one tool that was declined, as what refuses its calls says', async () => {
    const { start, run } = startHome();
    await (await start(['read'])).gateway.stop();
    const { files } = await start(['read', 'more']);
    const [question] = JSON.parse((await run(['inbox', '--json'])).stdout) as readonly { id: string }[];
    const id = question?.id ?? '';
    expect((await run(['inbox', 'answer', id, '--deny'])).code).toBe(0);
    expect(await files.call({ name: 'more' })).toMatchObject({
      failure: { reason: 'held', message: expect.stringContaining('unwedge accept files more') as string },
    });
    expect((await run(['accept', 'files', '--yes'])).code).toBe(1);
    const { code, stdout } = await run(['accept', 'files', 'more', '--yes']);
    expect([code, stdout.includes('+ name: more'), stdout.includes('allowed by')]).toEqual([0, true, true]);
    await expect.poll(async () => (await files.call({ name: 'more' })).ok, { timeout: 5000 }).toBe(true);
    expect((await run(['inbox', 'answer', id, '--deny'])).code).toBe(1);
    expect((await run(['accept', 'files', 'more', '--yes'])).code).toBe(1);
  });

  it('[P-11] says that nothing waits, and does nothing without a yes', async () => {
    const { start, run } = startHome();
    await (await start(['read'])).gateway.stop();
    await start(['read', 'more']);
    expect(await run(['accept', 'files', 'read', '--yes'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Nothing of') as string,
    });
    expect(await run(['accept', 'files'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--yes') as string,
    });
  });

  it('[P-11] without a pin a new tool is no news', async () => {
    const { start, run } = startHome();
    await (await start(['read'], false)).gateway.stop();
    expect((await start(['read', 'more'], false)).listed).toEqual(['read', 'more']);
    expect((await run(['accept', 'files', '--yes'])).code).toBe(1);
  });
});
