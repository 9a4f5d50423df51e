import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { startupGrace } from '../../install/agents/codex.ts';
import type { ConfigFile } from '../../install/configFile.ts';
import { readDocument } from '../../install/document.ts';
import type { Program } from '../../install/entry.ts';
import { isLess } from '../../install/planFile.ts';
import { DocumentError, type Node, scalarIn, type Table, tableAt } from '../../install/tree.ts';
import type { World } from '../../install/world.ts';
import { shellWord } from '../../src/policy/text/face.ts';
import { type Finding, fail, warning } from './finding.ts';
import { foldersAbove, type Standing } from './judgeProgram.ts';

/** Reads the trust that Codex needs to run some parts: hooks, and files of projects. */
export function codexStanding(file: ConfigFile, world: World, project: string): Standing {
  const state = tableOf(world, join(world.env['CODEX_HOME'] || join(world.home, '.codex'), 'config.toml'), 'toml');
  const hooks = tableAt(tableOf(world, file.path, file.format), ['hooks']);
  return {
    of({ program, own }) {
      const original = own?.wraps?.rest[2];
      if (program.kind !== 'hook' || own?.wraps === undefined || original === undefined) return undefined;
      const [, event, index, , at] = program.path;
      const key = `${file.path}:${snakeCase(String(event))}:${index}:${at}`;
      const kept = tableAt(state, ['hooks', 'state', key]);
      const trusted = kept === undefined ? undefined : scalarIn(kept, 'trusted_hash');
      // Only what fits the hook of before says for certain that our words are what it no longer fits.
      if (!hashesOf(program, original, matcherOf(hooks, program)).some((hash) => hash === trusted)) return undefined;
      const summary = `Codex does not run ${program.name} of ${file.path}: it was trusted before unwedge stood in front of it; trust it again in /hooks`;
      return fail('agent.trust', summary, 'codex');
    },
    ofFile(configured) {
      const own = tableOf(world, file.path, file.format);
      const isInFront = configured.some((each) => each.own?.wraps?.verb === 'mcp');
      const findings = isInFront && file.format === 'toml' && isImpatient(own, state) ? [impatient(file)] : [];
      if (file.scope !== 'project' || state === undefined) return findings;
      const isTrusted = foldersAbove(project).some((folder) => {
        const known = tableAt(state, ['projects', folder]);
        return known !== undefined && scalarIn(known, 'trust_level') === 'trusted';
      });
      return isTrusted ? findings : [untrusted(file, project), ...findings];
    },
  };
}

/** Decides for a project's file or a profile, with the user's own where it says nothing. */
function isImpatient(own: Table | undefined, user: Table | undefined): boolean {
  const table = [own, user].find((each) => each?.fields.has(startupGrace.key) === true);
  if (table === undefined) return true;
  const value = scalarIn(table, startupGrace.key);
  return typeof value === 'number' && isLess(value, startupGrace.value);
}

function impatient({ path, scope }: ConfigFile): Finding {
  const { key, value } = startupGrace;
  const summary = `Codex may make its first request without the tools of servers that are behind unwedge in ${path}: ${key} is missing or below ${value}`;
  return warning('agent.grace', summary, `unwedge install codex${scope === 'project' ? ' --project' : ''}`);
}

function untrusted({ path }: ConfigFile, project: string): Finding {
  const summary = `Codex does not read ${path}: it asks whether the project is to be trusted when it is started there`;
  return warning('agent.untrusted', summary, `cd ${shellWord(project)} && codex`);
}

function tableOf({ files }: World, path: string, format: ConfigFile['format']): Table | undefined {
  const bytes = files.read(path);
  if (bytes === undefined) return undefined;
  try {
    return readDocument(bytes, format).root;
  } catch (error) {
    // Told of as a file that Codex cannot use.
    if (error instanceof DocumentError) return undefined;
    throw error;
  }
}

function matcherOf(hooks: Table | undefined, { path: [, event, index] }: Program): string | undefined {
  const groups: Node | undefined = hooks?.fields.get(String(event))?.value;
  const group = groups?.kind === 'list' ? groups.items[Number(index)] : undefined;
  const matcher = group?.kind === 'table' ? scalarIn(group, 'matcher') : undefined;
  return typeof matcher === 'string' ? matcher : undefined;
}

/** In seconds, when a hook has no `timeout`. */
const defaultTimeout = 600;

/**
 * Computes the hash that Codex keeps of a trusted hook: SHA-256 over JSON with sorted keys (measured with 0.169). Some events have no matcher, whatever is
 * written.
 */
function hashesOf(
  { path: [, event], table }: Program,
  command: string,
  matcher: string | undefined,
): readonly string[] {
  const statusMessage = scalarIn(table, 'statusMessage');
  const hook = {
    async: scalarIn(table, 'async') === true,
    command,
    ...(typeof statusMessage === 'string' ? { statusMessage } : {}),
    timeout: scalarIn(table, 'timeout') ?? defaultTimeout,
    type: 'command',
  };
  return [matcher, undefined].map((each) => {
    const identity = { event_name: snakeCase(String(event)), hooks: [hook], matcher: each };
    return `sha256:${createHash('sha256').update(JSON.stringify(identity)).digest('hex')}`;
  });
}

const snakeCase = (event: string): string => event.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
