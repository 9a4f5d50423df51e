import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { floors, forbiddenImports, outdated, roomOf, sourceFiles } from '../../scripts/rooms.mjs';

const root = new URL('../../', import.meta.url);

describe('the rooms of src/', () => {
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
        room === 'index.ts' ? [room] : [begin, ...next].map((file) => `${room}/${file}`),
      );
    expect(paths.filter((path) => !existsSync(new URL(`src/${path}`, root)))).toEqual([]);
  });

  it('hold every file, and none is loose but the entry', () => {
    expect(sourceFiles().filter((file) => roomOf(file) === undefined || !file.includes('/'))).toEqual(['index.ts']);
  });

  it('know the innermost room of a path', () => {
    expect(roomOf('actors/mcp/mcpCall.ts')?.room).toBe('actors/mcp');
    expect(roomOf('protocol/codex/items.ts')?.room).toBe('protocol');
    expect(roomOf('nowhere/file.ts')).toBeUndefined();
  });
});

/** Folders that test what is not in src/. */
const others = /^(bench|chaos|history|package|real|simulation|fixtures|support)\//;

describe('a test file', () => {
  it('mirrors its source, or is in `scenarios/` of its room', () => {
    const misplaced = readdirSync(fileURLToPath(new URL('test', root)), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules') && !others.test(path))
      .filter((path) => {
        if (path.includes('/scenarios/')) return roomOf(path) === undefined;
        return !existsSync(new URL(`src/${path.replace(/(\.slow)?\.test\.ts$/, '.ts')}`, root));
      });
    expect(misplaced).toEqual([]);
  });
});
