import { readdirSync, readFileSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { pageOf, titleOf } from '../../scripts/sitePage.mjs';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const pagesWithPictures = ['README.md', 'docs/failure-modes.md', 'docs/observability.md', 'docs/reliability.md'];

const there = ['README.md', 'docs/streams.md', 'docs/guides/functions.md', 'examples/embed.mjs', 'src/index.ts'];
const page = (text: string, path = 'docs/embedding.md'): string =>
  pageOf(text, path, { isShown: (each) => !each.startsWith('src/'), exists: (each) => there.includes(each) });

describe('a page of the site', () => {
  it('[U-6] leads to the pages that are shown, and to examples as files', () => {
    expect(page('[a](streams.md#retries) [b](../README.md) [c](guides/functions.md)')).toBe(
      '[a](/docs/streams#retries) [b](/) [c](/docs/guides/functions)',
    );
    expect(page('[e](examples/embed.mjs)', 'README.md')).toBe('[e](/examples/embed.mjs){target="_self"}');
    expect(page('[up](../streams.md)', 'docs/guides/functions.md')).toBe('[up](/docs/streams)');
    expect(page('[out](https://stately.ai) [here](#part)')).toBe('[out](https://stately.ai) [here](#part)');
  });

  it('[U-6] [U-10] names without a link what is not shown, or is not there', () => {
    expect(page('see [index.ts](../src/index.ts) and [gone](gone.md)')).toBe('see index.ts and gone');
  });

  it('[U-6] takes nothing in the prose for a component or an expression, and leaves code as it is', () => {
    expect(page('a <NAME> of {{ it }}')).toBe('a &lt;NAME> of &#123;&#123; it }}');
    expect(page('`<NAME>` and `{{ it }}`')).toBe('`<NAME>` and <code v-pre>{{ it }}</code>');
    const code = '```ts\nconst a: Map<string, [x](y.md)> = {{}};\n```';
    expect(page(code)).toBe(code);
  });

  it('[U-6] draws the statecharts of the machines', () => {
    const text = '## integration\n\nWhat is called.\n\n```mermaid\nstateDiagram-v2\n```\n';
    expect(page(text, 'docs/machines.md')).toBe(
      '## integration\n\nWhat is called.\n\n<StateChart name="integration" />\n',
    );
  });

  it('[U-6] shows the pictures of README and of the other pages, and every picture there is', () => {
    const shown = 'a\n![The fault tour](/pictures/tour.svg)\nb';
    expect(page('a\n![The fault tour](pictures/tour.svg)\nb')).toBe(shown);
    expect(page('a\n![The fault tour](docs/pictures/tour.svg)\nb', 'README.md')).toBe(shown);
    const marked = pagesWithPictures.flatMap((path) =>
      [...read(path).matchAll(/^!\[[^\]]+\]\((?:docs\/)?pictures\/(\S+)\)$/gm)].map(([, file]) => file),
    );
    expect(new Set(marked)).toEqual(new Set(readdirSync(new URL('docs/pictures', root))));
  });

  it('[U-10] has pictures of less than 150 kB, which are in the package', () => {
    for (const file of readdirSync(new URL('docs/pictures', root)))
      expect(statSync(new URL(`docs/pictures/${file}`, root)).size, `size of ${file}`).toBeLessThan(150_000);
    const { files } = JSON.parse(read('package.json')) as { readonly files: readonly string[] };
    expect(files).toContain('docs');
  });

  it('[U-6] is called by its heading', () => {
    expect(titleOf('<!-- x -->\n# `unwedge serve`: a gateway\n## b')).toBe('unwedge serve: a gateway');
  });

  it('[U-6] is shown of all that is in docs, whose list site.mjs has', () => {
    const script = read('scripts/site.mjs');
    const pages = readdirSync(new URL('docs', root)).filter((file) => file.endsWith('.md'));
    expect(pages.filter((file) => !new RegExp(`['/]${file.slice(0, -3)}(\\.md)?'`).test(script))).toEqual([]);
  });
});
