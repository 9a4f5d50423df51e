import { describe, expect, it } from 'vitest';
import { knownNames, knownTypes } from './knownNames.ts';
import { publicNames, type Reflection, uncovered } from '../../scripts/referenceCoverage.mjs';

const described = (name: string, more: Partial<Reflection> = {}): Reflection => ({
  name,
  comment: { summary: [{ text: 'What it is.' }] },
  ...more,
});
const entry = 'unwedge/a';
const names = { [entry]: ['make', 'MakeOptions'] };
const pages = ['unwedge/a/functions/make.md', 'unwedge/a/interfaces/MakeOptions.md', 'unwedge/a/index.md'];
const make: Reflection = { name: 'make', signatures: [described('make')] };
const options = described('MakeOptions', { children: [described('limitMs')] });

/** What a reference lacks that has these in its one entry. */
const lacking = (...children: readonly Reflection[]): readonly string[] =>
  uncovered(names, { children: [{ name: entry, children }] }, pages);

const byCode = (one: string, other: string): number => (one < other ? -1 : 1);

describe('the check of the API reference', () => {
  it('[U-6] knows every public name of the package, types too', () => {
    const all = Object.fromEntries(
      Object.entries(knownTypes).map(([entry, types]) => [
        entry,
        [...types.split(' '), ...(knownNames[entry]?.split(' ') ?? [])].toSorted(byCode),
      ]),
    );
    expect(publicNames()).toEqual(all);
    expect(all['unwedge']).toEqual(expect.arrayContaining(['createGateway', 'GatewayOptions']));
  });

  it('[U-6] has nothing to say of a reference with all names, each described on a page of its own', () => {
    expect(lacking(make, options)).toEqual([]);
    expect(lacking({ name: 'make', variant: 'reference' }, options)).toEqual([]);
  });

  it('[U-6] names what is not there, what has no page, and what has no description', () => {
    expect(lacking(options)).toEqual(['unwedge/a: make is not in it']);
    expect(uncovered(names, { children: [{ name: entry, children: [make, options] }] }, pages.slice(1))).toEqual([
      'unwedge/a: make has no page',
    ]);
    expect(lacking({ name: 'make', signatures: [{ name: 'make' }] }, options)).toEqual([
      'unwedge/a: make has no description',
    ]);
    expect(lacking(make, described('MakeOptions', { children: [{ name: 'limitMs' }] }))).toEqual([
      'unwedge/a: MakeOptions.limitMs has no description',
    ]);
  });
});
