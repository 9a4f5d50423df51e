import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tops } from '../../scripts/rooms.mjs';
import { anchorOf } from '../../scripts/sitePage.mjs';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

const pagesIn = (folder: string): readonly string[] =>
  readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`)
    .sort();
const pages = [
  'README.md',
  'AGENTS.md',
  'llms.txt',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...['docs', 'plugins', ...tops].flatMap(pagesIn),
];

/** A page without its code, where brackets are no links and `#` begins no heading. */
const proseOf = (text: string): string => text.replaceAll(/^```[^]*?^```/gm, '');

/** The anchors of a page; a heading that it has twice is numbered. */
function anchorsOf(text: string): readonly string[] {
  const times = new Map<string, number>();
  return [...proseOf(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => {
    const anchor = anchorOf(heading);
    const before = times.get(anchor) ?? 0;
    times.set(anchor, before + 1);
    return before === 0 ? anchor : `${anchor}-${before}`;
  });
}

/** The links of a page to this project that lead nowhere. */
function brokenLinks(page: string, text = read(page)): readonly string[] {
  return [...proseOf(text).matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(([, path = '', anchor]) => {
    const target = path === '' ? page : posix.normalize(posix.join(posix.dirname(page), path));
    if (!existsSync(new URL(target, root))) return [path];
    if (anchor === undefined) return [];
    const isThere = target.endsWith('.md') && anchorsOf(target === page ? text : read(target)).includes(anchor);
    return isThere ? [] : [`${path}#${anchor}`];
  });
}

describe('the links of', () => {
  it.each(pages)('[U-10] %s lead to files and headings that there are', (page) => {
    expect(brokenLinks(page)).toEqual([]);
  });

  it('[U-10] the design names files that are there, by their paths from the root or from src/', () => {
    const quoted = [...read('docs/design.md').matchAll(/`([\w.-]+(?:\/[\w.-]+)+\.(?:tsx?|mjs))`/g)].map(
      ([, path = '']) => path,
    );
    expect(quoted.length).toBeGreaterThan(10);
    expect(quoted.filter((path) => !['', 'src/'].some((from) => existsSync(new URL(`${from}${path}`, root))))).toEqual(
      [],
    );
  });

  it('[U-10] a page are judged by its file and by its heading', () => {
    const text = [
      '## A `b`: c',
      '## A `b`: c',
      '[1](#a-b-c) [2](#a-b-c-1) [3](#a-b-c-2) [4](design.md#rooms) [5](design.md#cellars) [6](none.md)',
      '[7](https://example.com/#x) [8](../cli/main.ts#L1) [`code`](#a)',
      '```md\n[9](none.md)\n## d\n```',
      '[10](#d)',
    ].join('\n');
    expect(brokenLinks('docs/embedding.md', text)).toEqual([
      '#a-b-c-2',
      'design.md#cellars',
      'none.md',
      '../cli/main.ts#L1',
      '#a',
      '#d',
    ]);
  });
});

describe('the size of', () => {
  const guides = pages.filter((page) => page.startsWith('docs/guides/') && !page.endsWith('/README.md'));
  it.each(guides)('[U-6] %s is at most 160 lines of at most 160 characters but for tables', (page) => {
    const lines = read(page).trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(160);
    const prose = read(page).replaceAll(/^```text\n[\s\S]*?^```/gm, '');
    expect(prose.split('\n').filter((line) => line.length > 160 && !line.startsWith('|'))).toEqual([]);
  });
});
