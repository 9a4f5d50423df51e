import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  claudeDirectory,
  type ClaudePolicies,
  jsonAt,
  listOf,
  readClaudePolicies,
  recordOf,
} from '../../install/agents/claudePolicies.ts';
import type { ConfigFile } from '../../install/configFile.ts';
import { wordsOf } from '../../install/entry.ts';
import { readOwnCommand } from '../../install/launcher.ts';
import type { World } from '../../install/world.ts';
import { shellWord } from '../../src/policy/text/face.ts';
import { type Finding, fail, warning } from './finding.ts';
import { foldersAbove, type ConfiguredProgram, type Standing } from './judgeProgram.ts';

const undo = 'unwedge install claude --undo';

/** Reads the say of policies, approvals and plugins of Claude Code on its servers and hooks. */
export function claudeStanding(file: ConfigFile, world: World, project: string): Standing {
  const policies = readClaudePolicies(world, project);
  const about = (configured: ConfiguredProgram): Entry => ({
    ...configured,
    file,
    words: wordsOf(configured.program),
    name: String(configured.program.path.at(-1)),
    title: `${configured.program.name} of ${file.path}`,
  });
  return {
    of(configured) {
      if (configured.program.kind === 'hook') return undefined;
      const entry = about(configured);
      return (
        denied(entry, policies) ??
        notAllowed(entry, policies) ??
        doubled(entry, policies) ??
        (file.scope === 'project' ? unapproved(entry, policies, world, project) : undefined)
      );
    },
    ofFile(all) {
      const { hooksOff } = policies;
      if (hooksOff === undefined || !all.some(({ program }) => program.kind === 'hook')) return undefined;
      const summary = `Claude Code does not run the hooks of ${file.path}: ${hooksOff.path} says \`${hooksOff.key}\``;
      return warning('agent.hooks', summary, editing(hooksOff.path, policies));
    },
  };
}

interface Entry extends ConfiguredProgram {
  readonly file: ConfigFile;
  readonly words: readonly string[];
  readonly name: string;
  /** As it is told. */
  readonly title: string;
}

const originalOf = ({ own, words }: Entry): readonly string[] => own?.wraps?.rest ?? words;

/** A file of an administrator is not for its user to change. */
function editing(path: string, { settings }: ClaudePolicies): string | undefined {
  const isManaged = settings.some((each) => each.path === path && each.isManaged);
  return isManaged ? undefined : `\${EDITOR:-vi} ${shellWord(path)}`;
}

function denied(entry: Entry, policies: ClaudePolicies): Finding | undefined {
  const { name, words, title, own } = entry;
  const isDenied = ({ rule }: ClaudePolicies['denied'][number]): boolean =>
    rule['serverName'] === name || isDeepStrictEqual(rule['serverCommand'], words);
  const rule = policies.denied.find(isDenied);
  if (rule !== undefined) {
    const summary = `${title} is denied by ${rule.path}: Claude Code does not start it`;
    return warning('agent.denied', summary, editing(rule.path, policies));
  }
  if (own?.wraps === undefined) return undefined;
  const original = originalOf(entry);
  const evaded = policies.denied.find((each) => isDeepStrictEqual(each.rule['serverCommand'], original));
  if (evaded === undefined) return undefined;
  // The rule is about the whole command line, which is another one now.
  const summary = `${title} is started though ${evaded.path} denies its command, which unwedge hides from Claude Code`;
  return fail('agent.evaded', summary, undo);
}

/** Once a list allows servers by their commands, one on stdio has to be on it by its own. */
function notAllowed(entry: Entry, policies: ClaudePolicies): Finding | undefined {
  const { name, words, title, own } = entry;
  const [first] = policies.allowed;
  if (first === undefined) return undefined;
  const byCommand = policies.allowed.filter(({ rule }) => rule['serverCommand'] !== undefined);
  const allows = (wanted: readonly string[]): boolean =>
    byCommand.length === 0
      ? policies.allowed.some(({ rule }) => rule['serverName'] === name)
      : byCommand.some(({ rule }) => isDeepStrictEqual(rule['serverCommand'], wanted));
  if (allows(words)) return undefined;
  if (own?.wraps !== undefined && allows(originalOf(entry))) {
    const summary = `${title} is not started: ${first.path} allows it by the command that it had before unwedge`;
    return fail('agent.denied', summary, undo);
  }
  const summary = `${title} is not among the servers that ${first.path} allows: Claude Code does not start it`;
  return warning('agent.denied', summary, editing(first.path, policies));
}

/** Claude Code starts one of two servers whose command lines are the same, and both when they only do the same. */
function doubled(entry: Entry, { plugins }: ClaudePolicies): Finding | undefined {
  const { name, words, title, file, program } = entry;
  const does = whatItDoes(words);
  const twin = plugins.find(
    (each) =>
      each.isEnabled && !isDeepStrictEqual(each.words, words) && isDeepStrictEqual(whatItDoes(each.words), does),
  );
  if (twin === undefined) return undefined;
  const folder = program.path[0] === 'projects' ? program.path[1] : undefined;
  const scope = file.scope === 'project' ? 'project' : folder === undefined ? 'user' : 'local';
  const where = { user: undefined, local: String(folder), project: dirname(file.path) }[scope];
  const summary = `${title} runs twice: the plugin ${twin.plugin} brings it too, by a command line that is not the same`;
  const remove = `claude mcp remove ${shellWord(name)} -s ${scope}`;
  const fix = where === undefined ? remove : `cd ${shellWord(where)} && ${remove}`;
  return warning('agent.doubled', summary, fix);
}

/** A command line without what unwedge puts in front, or of unwedge without how it is started. */
function whatItDoes(words: readonly unknown[]): readonly unknown[] {
  if (!words.every((word) => typeof word === 'string')) return words;
  const own = readOwnCommand(words, new Set());
  if (own === undefined) return words;
  return own.wraps?.rest ?? ['unwedge', ...words.slice(own.launcherWords)];
}

/** A server of the project is started once the user has said so. */
function unapproved(
  { name, title }: Entry,
  { settings }: ClaudePolicies,
  world: World,
  project: string,
): Finding | undefined {
  const state = join(world.env['CLAUDE_CONFIG_DIR'] || world.home, '.claude.json');
  // Others read the file too: where Claude Code was never used there is nothing to approve.
  if (!existsSync(state) && !existsSync(claudeDirectory(world))) return undefined;
  const lists = (key: string, from = settings): boolean =>
    from.some(({ values }) => listOf(values[key]).includes(name));
  if (lists('disabledMcpjsonServers')) return undefined;
  const { projects } = jsonAt(world, state);
  const isTrusted = foldersAbove(project).some(
    (folder) => recordOf(recordOf(projects)[folder])['hasTrustDialogAccepted'] === true,
  );
  const heard = isTrusted ? settings : settings.filter(({ isOfUser, isManaged }) => isOfUser || isManaged);
  const isApproved =
    heard.some(({ values }) => values['enableAllProjectMcpServers'] === true) || lists('enabledMcpjsonServers', heard);
  if (isApproved) return undefined;
  const summary = `${title} is not approved: Claude Code asks whether to use it when it is started there, and leaves it out until then`;
  return warning('agent.unapproved', summary, `cd ${shellWord(project)} && claude`);
}
