import { dirname, join, resolve } from 'node:path';
import type { ConfigFile } from '../configFile.ts';
import { readDocument } from '../document.ts';
import { DocumentError, isText, numberIn, tableAt, textsOf } from '../tree.ts';
import type { World } from '../world.ts';
import { type Agent, inMs } from './agent.ts';

/** Files that include files, at most; one that includes itself ends there too. */
const mostIncludes = 10;
const servers = ['mcp', 'servers'];

export const openclaw: Agent = {
  name: 'openclaw',
  title: 'OpenClaw',
  files(world) {
    const { env, home } = world;
    const state = env['OPENCLAW_STATE_DIR'] || join(home, '.openclaw');
    return included(world, env['OPENCLAW_CONFIG_PATH'] || join(state, 'openclaw.json'), servers, mostIncludes);
  },
  callLimitMs: ({ table }) => numberIn(table, 'requestTimeoutMs') ?? inMs(numberIn(table, 'timeout')),
  next: ['OpenClaw notices the change by itself and starts the servers anew.'],
};

/** A file and those that it takes servers from. @param path - where in it the servers are. */
function included(world: World, file: string, path: readonly string[], depth: number): readonly ConfigFile[] {
  const own: ConfigFile = { agent: 'openclaw', path: file, scope: 'user', format: 'json5', servers: [path] };
  const root = rootOf(world, file);
  if (root === undefined || depth === 0) return [own];
  const others = path.flatMap((_, index) => includesAt(root, path.slice(0, index), path.slice(index)));
  return [
    own,
    ...[...others, ...includesAt(root, path, [])].flatMap(({ name, rest }) =>
      included(world, resolve(dirname(file), name), rest, depth - 1),
    ),
  ];
}

/** Finds what an object includes, and where in that the servers are. */
function includesAt(root: ReturnType<typeof rootOf>, at: readonly string[], rest: readonly string[]) {
  const value = tableAt(root, at)?.fields.get('$include')?.value;
  const names = isText(value) ? [value] : (textsOf(value) ?? []);
  return names.map((each) => ({ name: each.value, rest }));
}

function rootOf({ files }: World, path: string) {
  try {
    const bytes = files.read(path);
    return bytes === undefined ? undefined : readDocument(bytes, 'json5').root;
  } catch (error) {
    // It is named when it is read to be changed.
    if (error instanceof DocumentError || (error instanceof Error && 'syscall' in error)) return undefined;
    throw error;
  }
}
