import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { knownNames, knownTypes } from './knownNames.ts';

const { exports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
};

/** Names by entry: `unwedge`, `unwedge/agents` and so on. */
const entries = Object.entries(exports).flatMap(([path, target]) =>
  typeof target === 'string' ? [] : [[path.replace('.', 'unwedge'), target.types] as const],
);

/** The source of what an entry is built to. */
const sourceOf = (file: string): string =>
  new URL(file.replace('./dist/types/', '../../').replace('.d.ts', '.ts'), import.meta.url).href;

/** Each name that is not where it should be, in a sentence. */
function differences(
  found: readonly (readonly [entry: string, names: readonly string[]])[],
  known: Readonly<Record<string, string>>,
): readonly string[] {
  const entriesGone = Object.keys(known).filter((entry) => !found.some(([name]) => name === entry));
  const perEntry = found.flatMap(([entry, names]) => {
    const listed = new Set(known[entry]?.split(' '));
    return [
      ...names
        .filter((name) => !listed.has(name))
        .map((name) => `${entry} exports ${name}: where that is meant, put it into test/package/knownNames.ts`),
      ...[...listed]
        .filter((name) => !names.includes(name))
        .map(
          (name) => `${entry} exports ${name} no more: where that is meant, take it out of test/package/knownNames.ts`,
        ),
    ];
  });
  return [...perEntry, ...entriesGone.map((entry) => `${entry} is no entry of package.json any more`)];
}

describe('the public names', () => {
  it('[U-8] of each entry are these', async () => {
    const names = await Promise.all(
      entries.map(
        async ([entry, file]) => [entry, Object.keys((await import(sourceOf(file))) as object).sort()] as const,
      ),
    );
    expect(differences(names, knownNames)).toEqual([]);
  });

  it('[U-8] of each entry have these types beside them', () => {
    const types = entries.map(
      ([entry, file]) => [entry, typesIn(readFileSync(new URL(sourceOf(file)), 'utf8'))] as const,
    );
    expect(differences(types, knownTypes)).toEqual([]);
  });
});

/** The names that an entry exports as types. */
function typesIn(source: string): readonly string[] {
  const exported = [...source.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, isType, names = '']) =>
    names.split(',').flatMap((name) => {
      const [, marked, , own] = /^\s*(type )?(\w+ as )?(\w+)\s*$/.exec(name) ?? [];
      return own !== undefined && (isType ?? marked) !== undefined ? [own] : [];
    }),
  );
  return exported.sort();
}
