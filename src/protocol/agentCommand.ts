import type { IntegrationAbout } from '../policy/integrationAbout.ts';
import type { AgentFormat, AgentProfile } from './agents/profile.ts';
import { type AgentName, type OwnProfiles, type Profiled, agentNames, profileOf } from './agents/profiles.ts';

/** Agent whose command it is; `auto`: told by the command and its arguments. */
export type AgentOption = 'auto' | 'none' | AgentName;

/** An agent's command line that answers one request and ends. */
export interface AgentCommand extends Profiled {
  readonly format: AgentFormat;
}

/**
 * The agent behind a command and how it will print, undefined when it is none, or not one that answers once and ends
 * (`claude` without `-p`, `codex` without `exec`).
 * @param named - which agent it is where its name does not tell.
 * @param own - the user's own profiles, which come first.
 */
export function agentCommand(
  command: string,
  args: readonly string[],
  named: AgentOption = 'auto',
  own: OwnProfiles = {},
): AgentCommand | undefined {
  if (named === 'none') return undefined;
  const agent = named === 'auto' ? agentNamed(command, args, own) : named;
  if (agent === undefined) return undefined;
  const about: Profiled = Object.hasOwn(own, agent) ? { agent, profile: own[agent] } : { agent };
  const profile = profileOf(about);
  const words = beforeDashes(args);
  if (named === 'auto' && !answersOnce(profile, words)) return undefined;
  return { ...about, format: formatOf(profile, words) };
}

const runners: ReadonlySet<string> = new Set(['npx', 'bunx', 'pnpx']);

const nameOf = (command: string): string => command.replace(/^.*[/\\]/, '').replace(/\.(?:exe|cmd|js|cjs|mjs)$/i, '');

/** Returns the facts of the agent that a command is, whatever it is to do; undefined where it is none. @param own - the user's own profiles. */
export function agentOf(
  command: string,
  args: readonly string[] = [],
  own: OwnProfiles = {},
): AgentProfile | undefined {
  const agent = agentNamed(command, args, own);
  return agent && profileOf({ agent, profile: own[agent] });
}

function agentNamed(command: string, args: readonly string[], own: OwnProfiles): AgentName | undefined {
  const name = nameOf(command);
  const run = runners.has(name) ? args.find((word) => !word.startsWith('-')) : undefined;
  const isRun = (known: string): boolean => run === known || run?.startsWith(`${known}@`) === true;
  return [...Object.keys(own), ...agentNames].find((agent) => {
    const { commands, packages = [] } = profileOf({ agent, profile: own[agent] });
    return commands.includes(name) || packages.some(isRun);
  });
}

function answersOnce({ headless: { words, not = [] } }: AgentProfile, own: readonly string[]): boolean {
  const hasOne = (of: readonly string[]): boolean =>
    own.some((word) => of.includes(word.startsWith('--') ? (word.split('=')[0] ?? word) : word));
  return hasOne(words) && !hasOne(not);
}

function formatOf({ formats, output }: AgentProfile, own: readonly string[]): AgentFormat {
  const { words = {}, options = [], values = {} } = formats ?? {};
  const word = own.find((each) => Object.hasOwn(words, each));
  const value = word ?? optionValue(own, ...options) ?? '';
  const forms = word === undefined ? values : words;
  const form = Object.hasOwn(forms, value) ? forms[value] : undefined;
  if (form === undefined || typeof output === 'string') return form ?? 'text';
  // What nobody can read is text.
  return (form === 'json' ? output.json : output.stream) === undefined ? 'text' : form;
}

/** Tells whether an agent prints nothing before its end: silence is no sign of trouble then. */
export const printsAtEnd = (command: AgentCommand): boolean =>
  (profileOf(command).silentFormats ?? ['json']).includes(command.format);

/** Preset that holds for an agent where nothing is said. */
export const presetOfAgent = (command: AgentCommand): 'claudeCli' | 'codex' =>
  profileOf(command).output === 'claude' ? 'claudeCli' : 'codex';

/** Cuts off `--` and what follows: no options. */
export function beforeDashes(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return end < 0 ? args : args.slice(0, end);
}

/** The value of an option by its names, a long one in either of its forms; the last one counts. */
export function optionValue(args: readonly string[], ...names: readonly string[]): string | undefined {
  let value: string | undefined;
  for (const [index, word] of args.entries()) {
    const long = names.find((name) => name.startsWith('--') && word.startsWith(`${name}=`));
    if (names.includes(word)) value = args[index + 1];
    else if (long !== undefined) value = word.slice(long.length + 1);
  }
  return value;
}

/** Tells whether a run of Claude can be gone on with: it keeps its session unless told not to. */
export function keepsSession(args: readonly string[]): boolean {
  return !beforeDashes(args).includes('--no-session-persistence');
}

/** Tells whether the arguments name the session to begin; the same name cannot begin a second one. */
export function beginsNamedSession(args: readonly string[]): boolean {
  return optionValue(beforeDashes(args), '--session-id') !== undefined;
}

/** Claude's arguments for going on with a session instead of beginning one. */
export function resumeArgs(args: readonly string[], sessionId: string): readonly string[] {
  const own = beforeDashes(args);
  const kept: string[] = [];
  for (let index = 0; index < own.length; index++) {
    const word = own[index] ?? '';
    const next = own[index + 1];
    if (word === '--session-id' || ((word === '--resume' || word === '-r') && next?.startsWith('-') === false)) index++;
    else if (!/^(?:--(?:session-id|resume)=.*|--resume|-r|--continue|-c|--fork-session)$/.test(word)) kept.push(word);
  }
  // Not first: the words of what runs it (`npx PACKAGE`, `node FILE`) come before its options.
  const at = kept.findIndex((word) => word === '-p' || word === '--print');
  return [...kept.toSpliced(at < 0 ? kept.length : at, 0, '--resume', sessionId), ...args.slice(own.length)];
}

/**
 * Returns what records say of a command.
 * @param agent - the agent that it is, if it is one that is known.
 */
export function aboutCommand(
  agent: Profiled | undefined,
  args: readonly string[],
): IntegrationAbout<{ readonly args?: readonly string[] | undefined } | undefined> {
  if (agent === undefined) return { type: 'subprocess' };
  return {
    type: 'subprocess',
    provider: profileOf(agent).provider,
    modelOf: (request) => optionValue(beforeDashes([...args, ...(request?.args ?? [])]), '--model', '-m'),
  };
}
