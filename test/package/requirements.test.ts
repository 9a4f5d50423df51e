import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commands } from '../../cli/commands.ts';
import { judgeRequirements, parseRequirements, parseTitles } from '../../scripts/requirementList.mjs';

describe('the requirements', () => {
  it('that are built each have a test title', () => {
    const missing = judgeRequirements().untested.map(
      (id) => `${id} is \`built\` in docs/requirements.md, and no test title names [${id}]: npm run requirements`,
    );
    expect(missing).toEqual([]);
  });

  it('that test titles name all exist', () => {
    const wrong = judgeRequirements().unknown.map(
      ({ id, file, line }) => `${file}:${line} names [${id}], which is not in docs/requirements.md`,
    );
    expect(wrong).toEqual([]);
  });

  it('are found in their tables, a hundred and more', () => {
    const ids = judgeRequirements().rows.map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(100);
    expect(ids).toEqual(expect.arrayContaining(['I-1', 'M-13', 'F-27', 'U-5']));
  });
});

describe('the deviations', () => {
  it('name every requirement that is marked with a dagger', () => {
    const read = (page: string) => readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8').split('\n');
    const marked = read('requirements.md').flatMap((line) =>
      line.includes('†') ? (/^\| ([A-Z]+-\d+) /.exec(line)?.[1] ?? []) : [],
    );
    expect(marked.length).toBeGreaterThan(0);
    const told = read('deviations.md').filter((line) => /^(#|\|)/.test(line));
    const untold = marked.filter((id) => !told.some((line) => line.includes(id)));
    expect(untold.map((id) => `${id} has a † in docs/requirements.md, and no row in docs/deviations.md`)).toEqual([]);
  });
});

describe('the lists of names', () => {
  const read = (page: string) => readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  const told = (id: string): string =>
    [read('docs/requirements.md'), read('docs/deviations.md')]
      .flatMap((page) => page.split('\n').filter((line) => line.startsWith(`| ${id} |`)))
      .join('\n');

  it('have every entry, as required or with the reason', () => {
    const { exports } = JSON.parse(read('package.json')) as { readonly exports: Readonly<Record<string, unknown>> };
    const entries = Object.keys(exports).filter((name) => name.startsWith('./') && !name.endsWith('.json'));
    const untold = entries.filter((name) => !told('U-8').includes(`${name.slice(1)}\``));
    expect(untold.map((name) => `${name} of package.json is not in row U-8 of docs/requirements.md`)).toEqual([]);
  });

  it('have every command, as required or with the reason', () => {
    const elsewhere = /`unwedge ([a-z-]+)/g;
    const named = new Set([
      ...[...told('L-1').matchAll(/`([a-z-]+)`/g)].map(([, name]) => name),
      ...[...read('docs/requirements.md').matchAll(elsewhere)].map(([, name]) => name),
    ]);
    const untold = Object.keys(commands).filter((name) => !named.has(name));
    expect(untold.map((name) => `the command ${name} is not in row L-1 of docs/requirements.md`)).toEqual([]);
  });
});

describe('the judgement of requirements', () => {
  const list = parseRequirements('| Z-1 | built | one |\n| Z-2 | planned | two |\n| kind | examples | no |');
  // Put together, so that this file names no ID that is not its own.
  const named = (ids: string) => `[${ids}]`;
  const title = (text: string) => `it(${JSON.stringify(text)}, () => {});\n`;

  it('names what is built and has no test, not what is planned', () => {
    expect(judgeRequirements(list, []).untested).toEqual(['Z-1']);
  });

  it('counts a title for each ID it names', () => {
    const tests = parseTitles(title(`${named('Z-1, Z-2')} does both`), 'a.test.ts');
    expect(judgeRequirements(list, tests).rows.map((row) => row.tests.length)).toEqual([1, 1]);
  });

  it('finds titles behind a table and on a line of their own', () => {
    const source = `it.each([\n  ['a', 1],\n])(\n  '${named('Z-2')} takes %s', () => {});`;
    expect(parseTitles(source, 'a.test.ts')).toMatchObject([{ file: 'a.test.ts', ids: ['Z-2'] }]);
  });

  it('gives no credit to tests that are switched off or commented out', () => {
    const off = title(`${named('Z-1')} works`);
    expect(parseTitles(`${off.replace('it(', 'it.skip(')}// ${off}`, 'a.test.ts')).toEqual([]);
  });

  it('says where a title names an unknown ID', () => {
    const tests = parseTitles(`\n${title(`${named('Q-9')} is not listed`)}`, 'a.test.ts');
    expect(judgeRequirements(list, tests).unknown).toMatchObject([{ id: 'Q-9', file: 'a.test.ts', line: 2 }]);
  });

  it.each(['| Z-1 | done | x |', '| Z-1 | built | x |\n| Z-1 | built | x |'])('refuses a list like %j', (markdown) => {
    expect(() => parseRequirements(markdown)).toThrow(/Z-1/);
  });
});
