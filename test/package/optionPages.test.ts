import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { remoteServerKeys } from '../../src/actors/mcp/http/remoteOptions.ts';
import { httpKeys, mostRedirects } from '../../src/integrations/http/httpOptions.ts';
import type { Keys } from '../../src/policy/options/optionKeys.ts';
import { presets } from '../../src/policy/presets.ts';
import { optionTable } from '../config/keyTables.ts';

const readFile = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const read = (page: string): string => readFile(`docs/${page}`);

/** The text of a table, and of the interface that is derived from it. */
function sourceIn(path: string, ...names: readonly string[]): string {
  const text = readFile(`src/${path}`);
  const parts = names.map((name) => new RegExp(`^export (?:interface|const) ${name}\\b[^]*?^\\}`, 'm').exec(text)?.[0]);
  return parts.join('\n');
}

const httpSource = sourceIn('integrations/http/httpOptions.ts', 'httpKeys', 'HttpOptions');
const remoteSource = sourceIn('actors/mcp/http/remoteOptions.ts', 'remoteServerKeys', 'RemoteServerOptions');

/** The pages that show the options of one function as a table. */
const pages: readonly (readonly [page: string, table: string, keys: Keys, source: string])[] = [
  ['http-apis.md', 'options of gateway.http', httpKeys, httpSource],
  ['remote-mcp.md', 'options of a remote server', remoteServerKeys, remoteSource],
];

describe.each(pages)('docs/%s', (page, name, keys, source) => {
  it('[R-17] has the table of its options; else: vitest run test/package/optionPages.test.ts --update', async () => {
    const text = read(page);
    const begin = `<!-- ${name}: vitest run test/package/optionPages.test.ts --update -->\n`;
    const from = text.indexOf(begin);
    const to = text.indexOf(`<!-- end of ${name} -->`, from);
    expect([from, to]).not.toContain(-1);
    const shouldBe = `${text.slice(0, from)}${begin}\n${optionTable(keys, source)}\n${text.slice(to)}`;
    await expect(shouldBe).toMatchFileSnapshot(`../../docs/${page}`);
  });

  it('[R-17] says of each option what it is', () => {
    const rows = optionTable(keys, source).trimEnd().split('\n').slice(2);
    expect(rows).toHaveLength(Object.keys(keys).length);
    expect(rows.filter((row) => !row.endsWith('. |'))).toEqual([]);
  });
});

describe('docs/http-apis.md', () => {
  it('[R-14] says how many redirects are followed', () => {
    expect(read('http-apis.md')).toContain(`at most ${mostRedirects} in a row`);
  });

  it('[R-17] says the limits that its preset has', () => {
    const { idleMs, attemptMs, overallMs } = presets.sdk.limits;
    expect(read('http-apis.md')).toContain(
      `(preset \`sdk\`: ${idleMs / 1000} s of silence, ${attemptMs / 60_000} min an attempt, ${overallMs / 60_000} min in all)`,
    );
  });
});
