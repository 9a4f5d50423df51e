import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { readValue } from '../../../../src/policy/options/readOptions.ts';
import { duration, type KeyData, type Keys } from '../../../../src/policy/options/optionKeys.ts';
import { routes } from '../../../../web/serve/routeTable.ts';
import { everything, main, makeServeHome, startServe, startServing } from '../../../cli/startServe.ts';
import { serveOptions, usualDrainMs } from '../../../../cli/serve/command.ts';
import { routeTables } from '../routeTables.ts';

const file = '../../../../docs/serve.md';
const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');
const page = read(file);

/** The page with its tables as they should be. */
const shouldBe = Object.entries(routeTables()).reduce((text, [name, table]) => {
  const begin = `<!-- ${name}: vitest run test/web/serve/scenarios/page.test.ts --update -->\n`;
  const from = text.indexOf(begin);
  const to = text.indexOf(`<!-- end of ${name} -->`, from);
  if (from < 0 || to < 0) throw new Error(`no place for the table ${name}`);
  return `${text.slice(0, from)}${begin}\n${table}\n${text.slice(to)}`;
}, page);

/** What the page shows in a language. */
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, text = '']) => text);

/** How long servers that do not obey take after the drain, in ms. */
const stubbornMs = 5000;

const ms = (text: string): number => readValue('', text, duration({ required: true }));

describe('docs/serve.md', () => {
  it('[E-1] has the routes as they are; else: vitest run test/web/serve/scenarios/page.test.ts --update', async () => {
    await expect(shouldBe).toMatchFileSnapshot(file);
  });

  it('[E-1] says of each route what it answers, and of each key what it is', () => {
    for (const { answers, ...route } of Object.values(routes)) {
      expect(Object.keys(answers).length).toBeGreaterThan(0);
      const keys = { ...('body' in route && route.body), ...('query' in route && route.query) };
      for (const key of Object.values<KeyData>(keys as Keys)) expect(key.help).toMatch(/\.$/);
    }
  });

  it('[E-1] shows a first session that is as it says', async () => {
    const [config = ''] = blocks('json');
    expect(config).toBe(read('../../../../examples/serve.json'));
    const [start = '', session = ''] = blocks('sh');
    const home = makeServeHome(locally(JSON.parse(config) as Shown));
    const words = start.trim().split(' ').slice(2);
    expect(words.splice(words.indexOf('--port'), 2)).toEqual(['--port', '7420']);
    const more = ['--listen', '127.0.0.1:0', '--db', home.db];
    const { origin } = await startServing(process.execPath, [main, ...words, ...more], home.directory);
    const lines = session.replaceAll('http://127.0.0.1:7420', origin);
    const { stdout } = await execa('sh', ['-e'], { input: lines, cwd: home.directory });
    expect(stdout).toBe(blocks('text')[0]?.replaceAll('\n', ''));
  });

  it('[E-1] [H-1] shows a configuration that is in order, with agents that answer and a hook that declines', async () => {
    const shown = locally(JSON.parse(blocks('json')[1] ?? '') as Shown);
    const home = makeServeHome(shown);
    const guard = join(home.directory, 'guard');
    writeFileSync(guard, `#!${process.execPath}\nconsole.error('not today');\nprocess.exit(2);\n`);
    chmodSync(guard, 0o755);
    const claude = fileURLToPath(new URL('../../../fixtures/claudeAgent.mjs', import.meta.url));
    const [hook] = shown.hooks?.['PreToolUse'] ?? [];
    const { agents } = shown;
    writeFileSync(
      home.config,
      JSON.stringify({
        ...shown,
        hooks: { PreToolUse: [{ ...hook, command: guard }] },
        agents: {
          ...agents,
          coder: { ...agents?.['coder'], cwd: home.directory, claude: { command: claude } },
          second: { ...agents?.['second'], cwd: home.directory },
        },
      }),
    );
    const { origin, token } = await startServe(home, { BANK_KEY: 'key' });
    const post = async (path: string, body: object): Promise<unknown> => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })).json();
    };
    await post('/v1/sessions', { id: 'main' });
    const send = '/v1/sessions/main/messages?wait=1m';
    expect(await post(send, { text: 'say hello' })).toMatchObject({
      state: 'done',
      result: { value: { agent: 'coder', text: 'hello' } },
    });
    expect(await post(send, { tool: { server: 'bank', name: 'charge' } })).toMatchObject({
      state: 'declined',
      error: 'not today',
    });
  });

  it('[E-1] gives Kubernetes more time than the gateway takes, and options that there are', () => {
    const [yaml = ''] = blocks('yaml');
    const args = /args: \[(.*)\]/.exec(yaml)?.[1]?.replaceAll('"', '').split(', ') ?? [];
    const [, seconds = ''] = /terminationGracePeriodSeconds: (\d+)/.exec(yaml) ?? [];
    expect(Number(seconds) * 1000).toBeGreaterThan(ms(args[args.indexOf('--drain') + 1] ?? '') + stubbornMs);
    // That of Kubernetes, where nobody says another.
    expect(usualDrainMs + stubbornMs).toBeLessThan(30_000);
    expect(page).toContain(`for \`--drain\` (${usualDrainMs / 1000} s)`);
    const options = args.filter((word) => word.startsWith('--')).map((word) => word.slice(2));
    expect(options.filter((name) => !Object.hasOwn(serveOptions, name) && name !== 'db')).toEqual([]);
    for (const [, path] of yaml.matchAll(/path: (\/\w+), port/g))
      expect(Object.values(routes).find((route) => route.path === path)).toMatchObject({ isOpen: true });
  });

  it('is at most 320 lines long', () => {
    expect(page.split('\n').length).toBeLessThanOrEqual(320);
  });
});

/** A configuration as a page shows it. */
interface Shown {
  readonly mcpServers: Readonly<Record<string, object>>;
  readonly agents?: Readonly<Record<string, object>>;
  readonly hooks?: Readonly<Record<string, readonly object[]>>;
}

/** The same with a server that is installed here in place of those that `npx` would fetch, and nothing asked beyond this machine. */
function locally(shown: Shown): Shown {
  const mcpServers = Object.entries(shown.mcpServers).map(([name, server]) => [
    name,
    'command' in server ? { ...server, ...everything } : { ...server, url: 'http://127.0.0.1:9/mcp' },
  ]);
  return { ...shown, mcpServers: Object.fromEntries(mcpServers) as Shown['mcpServers'] };
}
