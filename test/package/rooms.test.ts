import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  facesSeenWithin,
  floors,
  forbiddenImports,
  outdated,
  pastTheFaces,
  roomOf,
  sourceFiles,
  sourceOfTest,
  tops,
} from '../../scripts/rooms.mjs';

const root = new URL('../../', import.meta.url);

describe('the rooms', () => {
  it('are imported from below only, by types and on use too', () => {
    expect(forbiddenImports()).toEqual([]);
  });

  it('are as the table says in the READMEs and the design: else run `node scripts/rooms.mjs`', () => {
    expect(outdated().map(([path]) => path)).toEqual([]);
  });

  it('name files that are there, to begin with and to read next', () => {
    const paths = floors
      .flat()
      .flatMap(({ room, begin, next = [] }) =>
        room.endsWith('.ts') ? [room] : [begin, ...next].map((file) => `${room}/${file}`),
      );
    expect(paths.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
  });

  it('hold every file, and none is loose but the entry', () => {
    expect(sourceFiles().filter((file) => roomOf(file)?.room.includes(file) !== false)).toEqual(['src/index.ts']);
  });

  it('know the innermost room of a path', () => {
    expect(roomOf('agents/codex/codex.ts')?.room).toBe('agents/codex');
    expect(roomOf('src/actors/mcp/mcpCall.ts')?.room).toBe('src/actors');
    expect(roomOf('nowhere/file.ts')).toBeUndefined();
  });
});

describe('the faces of the core', () => {
  const faces = sourceFiles().filter((file) => file.startsWith('src/') && file.endsWith('/face.ts'));

  it('[U-13] are all that is imported from outside, but for entries and what is loaded on use', () => {
    expect(pastTheFaces()).toEqual([]);
    expect(facesSeenWithin()).toEqual([]);
  });

  it('[U-13] are one of a folder, and forty at most', () => {
    expect(faces.length).toBeLessThanOrEqual(40);
    expect(faces.length).toBeGreaterThan(20);
  });
});

/** Lists of source folders, by the tool that reads them. */
const lists: readonly (readonly [file: string, list: RegExp, inFolder: string])[] = [
  ['tsconfig.json', /"include": \[([^\]]*)\]/, ''],
  ['tsconfig.build.json', /"include": \[([^\]]*)\]/, ''],
  ['biome.json', /"includes": \[([^\]]*)\]/, '/**'],
  ['.oxlintrc.json', /"files": \[([^\]]*)\], "rules": \{"import\/no-cycle"/, '/**'],
];

it.each(lists)('[U-13] %s has every folder of the source', (file, list, inFolder) => {
  const [, words = ''] = list.exec(readFileSync(new URL(file, root), 'utf8')) ?? [];
  const folders = [...words.matchAll(/"([^"]+)"/g)].map(([, folder]) => folder);
  expect(folders).toEqual(expect.arrayContaining(tops.map((top) => `${top}${inFolder}`)));
});

it('[U-13] knip.json has every folder of the source', () => {
  const [, words = ''] = /"project": \[\s*"\{([^}]*)\}/.exec(readFileSync(new URL('knip.json', root), 'utf8')) ?? [];
  expect(words.split(',').sort()).toEqual([...tops]);
});

/** Folders that test what is no source of the package. */
const others = /^(bench|chaos|conformance|fuzz|history|mutation|package|real|security|simulation|fixtures|support)\//;

describe('a test file', () => {
  it('mirrors its source, or is in `scenarios/` of its room', () => {
    const misplaced = readdirSync(fileURLToPath(new URL('test', root)), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules') && !others.test(path))
      .filter((path) => {
        if (path.includes('/scenarios/')) return roomOf(sourceOfTest(path)) === undefined;
        return !existsSync(new URL(sourceOfTest(path), root));
      });
    expect(misplaced).toEqual([]);
  });
});
