import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { configOptions } from '../../../cli/config/command.ts';
import { loadConfig } from '../../../src/config/loadConfig.ts';
import { folderWith, problemsOf } from '../folder.ts';
import { keyTables } from '../keyTables.ts';

const root = new URL('../../..', import.meta.url);
const file = '../../../docs/configuration.md';
const page = readFileSync(new URL(file, import.meta.url), 'utf8');

/** The page with its tables as they should be. */
const shouldBe = Object.entries(keyTables()).reduce((text, [name, table]) => {
  const begin = `<!-- ${name}: vitest run test/config/scenarios/page.test.ts --update -->\n`;
  const from = text.indexOf(begin);
  const to = text.indexOf(`<!-- end of ${name} -->`, from);
  if (from < 0 || to < 0) throw new Error(`no place for the table ${name}`);
  return `${text.slice(0, from)}${begin}\n${table}\n${text.slice(to)}`;
}, page);

/** The examples of the page in a language. */
function codeOf(language: string): readonly string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'gm'))].map(([, code = '']) => code);
}

const { exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as {
  readonly exports: Readonly<Record<string, string>>;
};
const published = exports['./config.schema.json']?.replace('./', '') ?? '';

/** What the gateway of the example has understood. */
const report = `
const figures = (name) => {
  const { limits, retry } = gateway.integration(name, {}, () => 'ok').policy;
  return [limits.attemptMs, retry.maxAttempts];
};
console.log(JSON.stringify({ warnings, kb: figures('kb'), research: figures('research'), store: options.store }));
await gateway.stop();
`;

describe('docs/configuration.md', () => {
  it('[G-10] has the tables that the schema makes; else: vitest run test/config/scenarios/page.test.ts --update', async () => {
    await expect(shouldBe).toMatchFileSnapshot(file);
  });

  it('[U-1] shows a module that steers a gateway', async () => {
    const [config = '', gateway = ''] = codeOf('js');
    const cwd = folderWith({ 'unwedge.config.mjs': config, 'gateway.mjs': `${gateway}${report}` });
    mkdirSync(join(cwd, 'node_modules'));
    symlinkSync(fileURLToPath(root), join(cwd, 'node_modules', 'unwedge'));
    const { stdout } = await execa(process.execPath, ['gateway.mjs'], { cwd });
    expect(JSON.parse(stdout)).toEqual({
      warnings: [],
      kb: [20_000, 4],
      research: [900_000, 2],
      store: join(cwd, 'gateway.sqlite'),
    });
  });

  it('shows a JSON file that is in order', async () => {
    const [json = ''] = codeOf('json');
    const cwd = folderWith({ 'unwedge.config.json': json });
    const { options } = await loadConfig({ cwd, env: {} });
    expect(options).toMatchObject({ alerts: { failures: 3, windowMs: 300_000 } });
    expect(json).toContain(`./node_modules/unwedge/${published}`);
  });

  it('shows the lines that mistakes are told in', async () => {
    const json = `{
  "store": "x",
  "alerts":   { "failurs": 1 },
  "policies": { "integrations": { "kb": { "attemptMs": "soon" } } }
}`;
    const cwd = folderWith({ 'unwedge.config.json': json });
    const lines = await problemsOf(loadConfig({ cwd, env: { UNWEDGE_RETENTION_MAX_AGE: 'ever' } }));
    const shown = codeOf('text').join('').trimEnd().split('\n');
    expect(lines).toEqual(shown);
  });

  it('[C-3] lists the variables of Claude', () => {
    const code = readFileSync(new URL('agents/claude/claudeOptions.ts', root), 'utf8');
    const read = new Set(code.match(/(?<=')CLAUDE_[A-Z_]+(?=')/g));
    const listed = [...page.matchAll(/^\| `(CLAUDE_[A-Z_]+)`/gm)].map(([, name]) => name);
    expect(new Set(listed)).toEqual(read);
  });

  it('names options of commands that there are', () => {
    const named = [...page.matchAll(/^unwedge config(?: --(\w+))?/gm)].flatMap(([, name]) => name ?? []);
    expect(named.filter((name) => !Object.hasOwn(configOptions, name))).toEqual([]);
    expect(named.length).toBeGreaterThan(0);
  });
});
