import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { agentNames } from '../../../install/configFile.ts';
import { textWidth } from '../../../src/policy/text/textWidth.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { call, runBuilt } from '../startCli.ts';

const original = JSON.stringify({
  mcpServers: { files: { command: 'npx', args: ['p'] }, web: { type: 'http', url: 'https://x' } },
});

function startHome() {
  const home = temporaryDirectory();
  const config = join(home, '.claude.json');
  writeFileSync(config, original);
  const env = { HOME: home, PATH: process.env['PATH'] };
  return {
    home,
    config,
    run: (words: readonly string[], more = {}) =>
      call(['install', ...words], { env: { ...env, ...more }, columns: 80, now: () => Date.now() }),
  };
}

describe('unwedge install', () => {
  it.each([
    [[], `Missing AGENT; it is one of ${agentNames.join(', ')}, or --all`],
    [['claud'], 'Unknown agent "claud"; did you mean claude?'],
    [['claude', '--all'], 'Expected an agent or `--all`, got both'],
    [['claude', 'codx'], 'Unknown agent "codx"; did you mean codex?'],
    [['claude', '--undoo'], 'Unknown option "--undoo"; did you mean --undo?'],
  ])('[E-4] refuses %j', async (words, message) => {
    const { run, config } = startHome();
    const { code, stdout, stderr } = await run(words);
    expect([code, stdout, stderr]).toEqual([2, '', `unwedge: ${message}\n`]);
    expect(readFileSync(config, 'utf8')).toBe(original);
  });

  it('[E-4] is not for sudo, which would make the files those of root', async () => {
    if (process.getuid?.() !== 0) return;
    const { run, config } = startHome();
    const { code, stderr } = await run(['claude'], { SUDO_UID: '1000' });
    expect([code, stderr]).toEqual([1, expect.stringContaining('without sudo')]);
    expect(readFileSync(config, 'utf8')).toBe(original);
  });

  it('[E-4] says in 80 columns what it would do, what it did, and how to go back', async () => {
    const { run, config, home } = startHome();
    const planned = await run(['claude', '--dry-run']);
    expect(planned).toMatchObject({ code: 0, stderr: '' });
    expect(planned.stdout).toContain('~/.claude.json\n  wrap      server files\n  left      server web: it is remote');
    expect(planned.stdout).toMatch(/^\+\{"mcpServers":.*"mcp", "--name", "files", "--", "npx", "p"\]/m);
    expect(planned.stdout).toContain('Would change 1 server in 1 file. Nothing was written.');
    expect(readFileSync(config, 'utf8')).toBe(original);

    const done = await run(['claude']);
    expect(done).toMatchObject({ code: 0, stderr: '' });
    expect(done.stdout.split('\n').filter((line) => textWidth(line) > 80 && line.includes(' '))).toEqual([]);
    expect(done.stdout).toContain('Changed 1 server in 1 file.');
    expect(done.stdout).toContain('unwedge install claude --undo');
    expect(done.stdout).toContain('unwedge status');
    const { mcpServers } = JSON.parse(readFileSync(config, 'utf8')) as {
      mcpServers: { files: { command: string; args: string[] } };
    };
    const { command, args } = mcpServers.files;
    expect([existsSync(command), existsSync(args[0] ?? ''), args.slice(1)]).toEqual([
      true,
      true,
      ['mcp', '--name', 'files', '--', 'npx', 'p'],
    ]);
    expect(args[0]).toMatch(/dist\/cli\/main\.js$/);

    expect((await run(['claude'])).stdout).toContain('already   server files');
    const undone = await run(['claude', '--undo']);
    expect(undone.stdout).toContain('It is to the byte what it was before.');
    expect(readFileSync(config, 'utf8')).toBe(original);
    expect(undone.stdout).not.toContain('The files of before');
    expect((await run(['--all', '--undo'])).stdout).toContain('Nothing to undo');

    await run(['claude']);
    writeFileSync(config, JSON.stringify(JSON.parse(readFileSync(config, 'utf8')), null, 4));
    expect((await run(['claude', '--undo'])).stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /The files of before: \S+\/backups, with any keys in them; delete it once all works/,
    );
    expect(existsSync(join(home, '.local/state/unwedge/install/install.json'))).toBe(true);
  });

  it('[E-4] takes several agents at a time, each once, and says how to take all of them back', async () => {
    const { run, config, home } = startHome();
    mkdirSync(join(home, '.cursor'));
    const cursor = join(home, '.cursor', 'mcp.json');
    writeFileSync(cursor, original);
    const done = await run(['claude', 'cursor', 'claude']);
    expect(done.stdout).toContain('Changed 2 servers in 2 files.');
    expect(done.stdout).toContain('Back again: unwedge install claude cursor --undo');
    const undone = await run(['cursor', 'claude', '--undo']);
    expect(undone.stdout).toContain('Restored 2 servers in 2 files.');
    for (const file of [config, cursor]) expect(readFileSync(file, 'utf8')).toBe(original);
    expect((await run(['codex', 'zed'])).stdout).toBe(
      'Nothing to do: no agent, MCP server or hook of Codex or Zed is configured here.\n',
    );
  });

  it('[E-4] says when there is nothing to stand in front of', async () => {
    const home = temporaryDirectory();
    const ran = await call(['install', 'codex'], { env: { HOME: home } });
    expect(ran).toEqual({
      code: 0,
      stdout: 'Nothing to do: no agent, MCP server or hook of Codex is configured here.\n',
      stderr: '',
    });
  });

  it('[E-4] exits with 1 when a file could not be changed, and says why', async () => {
    const { run, config } = startHome();
    writeFileSync(config, '{');
    const { code, stdout } = await run(['claude']);
    expect([code, stdout]).toEqual([1, expect.stringContaining('not done  line 1 is no JSON')]);
  });

  it('[E-4] tells machines the same', async () => {
    const { run, config } = startHome();
    const { stdout } = await run(['claude', '--json', '--dry-run']);
    expect(JSON.parse(stdout)).toMatchObject({
      dryRun: true,
      files: [
        {
          agent: 'claude',
          path: config,
          scope: 'user',
          status: 'changed',
          entries: [{ name: 'files', action: 'wrapped' }, { action: 'left' }],
        },
      ],
    });
  });

  it('[E-4] loads its parsers late, for itself and for doctor', () => {
    const dist = fileURLToPath(new URL('../../../dist', import.meta.url));
    const read = (name: string): string => readFileSync(join(dist, name), 'utf8');
    const loaded = new Set(['cli/main.js', 'index.js']);
    for (const name of loaded) {
      for (const [, path = ''] of read(name).matchAll(/(?:from|import)\s*["'`](\.[^"'`]+)["'`]/g))
        loaded.add(join(dirname(name), path));
    }
    const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
    const parsing = files.filter((name) =>
      /toml-eslint-parser|jsonc-eslint-parser|smol-toml|["']yaml["']/.test(read(name)),
    );
    expect(parsing).toHaveLength(1);
    expect(loaded.size).toBeGreaterThan(3);
    expect([...loaded].filter((name) => parsing.includes(name))).toEqual([]);
  });

  it('[E-4] works as the program that is built', async () => {
    const { home, config } = startHome();
    mkdirSync(join(home, '.codex'));
    writeFileSync(join(home, '.codex/config.toml'), '[mcp_servers.a]\ncommand = "x"\n');
    const env = { HOME: home, PATH: process.env['PATH'] ?? '' };
    expect(await runBuilt(['install', '--all'], env)).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(config, 'utf8')).toContain('"mcp", "--name", "files", "--", "npx"');
    expect(await runBuilt(['install', '--all', '--undo'], env)).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(config, 'utf8')).toBe(original);
    expect(readFileSync(join(home, '.codex/config.toml'), 'utf8')).toBe('[mcp_servers.a]\ncommand = "x"\n');
  });

  it('[E-4] says that nothing can be recorded where no SQLite driver works', async () => {
    const { home } = startHome();
    const preload = join(home, 'noDriver.mjs');
    writeFileSync(
      preload,
      `import Module from 'node:module';
const load = Module._load;
Module._load = (request, ...more) => {
  if (request.startsWith('better-sqlite3')) throw new Error('Could not locate the bindings file');
  return load(request, ...more);
};
const builtin = process.getBuiltinModule;
process.getBuiltinModule = (name) => (name === 'node:sqlite' ? undefined : builtin(name));
`,
    );
    const words = ['install', 'claude', '--dry-run'];
    const env = { HOME: home, PATH: process.env['PATH'] ?? '' };
    const { stdout } = await runBuilt(words, { ...env, NODE_OPTIONS: `--import ${preload}` });
    expect(stdout).toContain('What happens cannot be recorded: no SQLite driver works');
    expect(stdout).toContain('npm rebuild');
    expect((await runBuilt(words, env)).stdout).not.toContain('recorded');
  });
});
