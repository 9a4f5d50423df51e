import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sourceFiles } from '../../scripts/rooms.mjs';

const source = fileURLToPath(new URL('../..', import.meta.url));

/** Rooms of programs that load what they need as they start, and of tests. */
const startsOnly = /^(cli|testing|src\/config|install)\//;

/** Files whose imports are not made through it, and why. */
const others: Readonly<Record<string, string>> = {
  'src/actors/process/execaPackage.ts': 'waited for within the module of subprocessRun.ts',
  'src/actors/mcp/mcpSpawn.ts': 'on Windows alone, whose processes have no such limit',
  'agents/claude/claudeLog.ts': 'a module of Node reads no file',
  'proxy/boundary/superviseMcpServer.ts': 'begun with the start of a server, once',
  'reader/openReader.ts': 'a reader is opened anew for each look',
  'postgres/reader/pgReader.ts': 'orders on letters, by commands',
  'reader/sqlite/reader.ts': 'orders on letters, by commands',
};

it('[S-4] a module that a living process loads late is loaded again where descriptors were short, and no other file imports as it runs', () => {
  const found = sourceFiles().filter((file) => {
    if (startsOnly.test(file)) return false;
    if (file.endsWith('.d.ts')) return false;
    const text = readFileSync(join(source, file), 'utf8').replaceAll(
      /lateModule\(\s*(?:async )?\(\)\s*=>(?:[^;{]*|\s*\{[^}]*\}[^;]*);/g,
      '',
    );
    return /(?<!typeof )\bimport\('/.test(text);
  });
  expect(found.sort()).toEqual(Object.keys(others).sort());
});
