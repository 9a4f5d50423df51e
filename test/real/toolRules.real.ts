import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { runBuilt } from '../cli/startCli.ts';
import { processesWith } from '../cli/startHook.ts';
import { fixture } from '../cli/startRun.ts';
import { setup } from '../globalSetup.ts';
import { commandLine, installed } from '../proxy/mcp/conformance/ways.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { hasClaude } from './claudeEnv.ts';
import { codexPath, hasCodex } from './codexEnv.ts';
import { callsTool, callsTools, type FakeRequest, type FakeScript, says } from './fakeAnthropic.ts';
import { callsServer, type OpenaiReply, responds, startFakeOpenai } from './fakeOpenai.ts';
import { startRealClaude } from './startRealClaude.ts';

const seconds = { timeout: 60_000 };
const read = 'unwedge_read_result';
/** More than either agent gives its model: characters of one to four bytes. */
const long = Array.from({ length: 6000 }, (_, at) => `${at} ${'grüße 漢字 😀 '.repeat(at % 5)}\n`).join('');

/** The real server of files behind rules, as an entry of a client that works in `folder`, and what can be seen of it. */
function filesByRule(home: string, folder: string, maxResult: string) {
  const [heard = '', db = '', config = ''] = ['heard', 'rules.sqlite', 'rules.json'].map((name) => join(home, name));
  const path = join(folder, 'long.txt');
  writeFileSync(path, long);
  // Whoever reads it waits until somebody writes.
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const tools = { read_text_file: { rename: 'fetch_text_file', describe: 'Fetches.', join: true } };
  writeFileSync(config, JSON.stringify({ policies: { integrations: { files: { tools } } } }));
  const options = ['--name', 'files', '--config', config, '--max-result', maxResult];
  for (const denied of ['write_*', 'edit_file', 'move_file', 'create_directory']) options.push('--deny', denied);
  const server = ['--import', fixture('mcpSpy.mjs'), installed('filesystem'), folder];
  const env = { MCP_SPY: heard, UNWEDGE_DB: db };
  return {
    path,
    pipe,
    entry: { ...commandLine('through the proxy', server, options), env },
    heard: () => (existsSync(heard) ? readFileSync(heard, 'utf8') : ''),
    why: async () => (await runBuilt(['why', 'files'], { HOME: home, PATH: process.env['PATH'] ?? '', ...env })).stdout,
    noneLeft: () => vi.waitUntil(() => processesWith(`UNWEDGE_DB=${db}`).length === 0, seconds),
  };
}

/** What a model does with a large result: reads on as each text says, to the end. Gives what it has read, and what it asks next. */
class Reader {
  read = '';
  pages = 0;
  #handle = '';

  /** @param texts - of the result of the last call. @returns arguments of the next call, if there is one. */
  next(texts: readonly string[]): object | undefined {
    const isFirst = this.#handle === '';
    const [note = '', head = ''] = isFirst ? texts : [texts.at(-1), texts[0]];
    this.read += head;
    this.pages += 1;
    if (isFirst) this.#handle = /"handle":"([^"]+)"/.exec(note)?.[1] ?? 'none';
    const from = /"from":(\d+)|Read on from (\d+)/.exec(note);
    return from === null ? undefined : { handle: this.#handle, from: Number(from[1] ?? from[2]) };
  }
}

describe.skipIf(!hasClaude)('tools by rule and large results under the real claude', () => {
  beforeAll(setup);

  async function startTurn(script: (files: ReturnType<typeof filesByRule>) => FakeScript) {
    const words = ['-p', '--output-format', 'stream-json', '--verbose', '--allowedTools', 'mcp__files'];
    const answer: { by?: FakeScript } = {};
    const { claude, upstream, cwd, home } = await startRealClaude(
      (request, index) => {
        const { by = [] } = answer;
        return (typeof by === 'function' ? by(request, index) : by[index]) ?? says('done');
      },
      { args: [...words, '--mcp-config', '../mcp.json', '--strict-mcp-config'] },
    );
    const files = filesByRule(home, cwd, '20kB');
    answer.by = script(files);
    writeFileSync(join(home, 'mcp.json'), JSON.stringify({ mcpServers: { files: files.entry } }));
    return { files, outcome: claude.call({ prompt: 'do it' }, { maxAttempts: 1 }), upstream };
  }
  const resultsOf = (request: FakeRequest | undefined): readonly Readonly<Record<string, unknown>>[] =>
    (request?.body.messages ?? []).flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_result'),
    );
  const textsOf = (result: Readonly<Record<string, unknown>> | undefined): readonly string[] => {
    const { content } = result ?? {};
    return typeof content === 'string' ? [content] : (content as { text: string }[]).map(({ text }) => text);
  };

  it('[P-11] [P-12] offers no denied tool, calls a renamed one, and reads a large file to its end', async () => {
    const reader = new Reader();
    const { files, outcome, upstream } = await startTurn(({ path }) => (request, index) => {
      // It has its model look for tools that are not in its prompt.
      const query = 'select:mcp__files__fetch_text_file,mcp__files__write_file';
      if (index === 0) return callsTool('ToolSearch', { query, max_results: 5 });
      if (index === 1) return callsTool('mcp__files__write_file', { path, content: 'gone' });
      if (index === 2) return callsTool('mcp__files__fetch_text_file', { path });
      const next = reader.next(textsOf(resultsOf(request).at(-1)));
      return next === undefined ? says('done') : callsTool(`mcp__files__${read}`, next);
    });
    expect(await outcome).toMatchObject({ ok: true, value: { agent: { text: 'done' } } });
    const [first] = upstream.requests;
    const named = new Set(JSON.stringify(first?.body).match(/mcp__files__\w+/g));
    expect(named).toContain('mcp__files__fetch_text_file');
    expect([...named].filter((name) => /__(write|edit|move|create|read_text)_/.test(name))).toEqual([]);
    expect(first?.body.tools?.map(({ name }) => name)).toContain(`mcp__files__${read}`);
    const [found, refused] = resultsOf(upstream.requests.at(-1)).map((result) => JSON.stringify(result));
    expect(found).toContain('mcp__files__fetch_text_file');
    expect(found).not.toContain('mcp__files__write_file');
    expect(refused).toContain('No such tool');
    expect(files.heard()).not.toContain('write_file');
    expect(reader.pages).toBeGreaterThan(10);
    expect(reader.read === long).toBe(true);
    await files.noneLeft();
  });

  it('[P-13] [P-11] makes equal reads at once, of which the server hears one', async () => {
    const { files, outcome, upstream } = await startTurn(({ pipe }) => {
      const call = ['mcp__files__fetch_text_file', { path: pipe }] as const;
      return [callsTools(call, call, call)];
    });
    await vi.waitUntil(() => files.heard().includes('"read_text_file"'), seconds);
    await vi.waitUntil(async () => (await files.why()).split('read_text_file (files-').length > 3, seconds);
    await writeFile(files.pipe, 'written once');
    expect(await outcome).toMatchObject({ ok: true, value: { agent: { text: 'done' } } });
    const results = resultsOf(upstream.requests.at(-1));
    expect(results).toHaveLength(3);
    for (const result of results) expect(textsOf(result).join('')).toContain('written once');
    expect(files.heard().split('"read_text_file"')).toHaveLength(2);
    await files.noneLeft();
  });
});

describe.skipIf(!hasCodex)('tools by rule and large results under the real codex', () => {
  beforeAll(setup);

  it('[P-11] [P-12] offers no denied tool, calls a renamed one, and reads a large file to its end', async () => {
    const home = temporaryDirectory();
    const cwd = join(home, 'work');
    mkdirSync(cwd);
    const files = filesByRule(home, cwd, '10kB');
    const reader = new Reader();
    const reply: OpenaiReply = (response) => {
      const { length } = openai.requests;
      if (length === 1) return callsServer('files', 'fetch_text_file', { path: files.path })(response);
      const { input } = JSON.parse(openai.requests.at(-1) ?? '') as {
        input: { output?: string | { text: string }[] }[];
      };
      const output = input.at(-1)?.output ?? [];
      // Behind a block of Codex's own, of how long it took.
      const next = reader.next(typeof output === 'string' ? [output] : output.slice(1).map(({ text }) => text));
      (next === undefined ? responds('done') : callsServer('files', read, next))(response);
    };
    const openai = await startFakeOpenai([reply]);
    onTestFinished(() => openai.close());
    const { command, args, env } = files.entry;
    const lines = [
      'model = "fake-model"',
      'model_provider = "fake"',
      'analytics.enabled = false',
      `model_providers.fake = { name = "fake", base_url = "${openai.url}", wire_api = "responses", env_key = "FAKE_KEY" }`,
      '[mcp_servers.files]',
      `command = ${JSON.stringify(command)}`,
      `args = ${JSON.stringify(args)}`,
      '[mcp_servers.files.env]',
      ...Object.entries(env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`),
    ];
    writeFileSync(join(home, 'config.toml'), lines.join('\n'));
    const ran = await execa(codexPath, ['exec', '--skip-git-repo-check', 'do it'], {
      cwd,
      env: { PATH: process.env['PATH'] ?? '', HOME: home, CODEX_HOME: home, FAKE_KEY: 'x' },
      extendEnv: false,
      reject: false,
      input: '',
    });
    expect(ran.stdout).toContain('done');
    const { tools } = JSON.parse(openai.requests[0] ?? '') as { tools: { name: string; tools: { name: string }[] }[] };
    const offered = tools.find(({ name }) => name === 'mcp__files')?.tools.map(({ name }) => name) ?? [];
    expect(offered).toEqual(expect.arrayContaining(['fetch_text_file', read]));
    expect(offered.filter((name) => /^(write|edit|move|create|read_text)_/.test(name))).toEqual([]);
    expect(reader.pages).toBeGreaterThan(20);
    expect(reader.read === long).toBe(true);
    await files.noneLeft();
  });
});
