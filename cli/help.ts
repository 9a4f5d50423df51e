import { type Command, commonOptions, type OptionSpec, type OptionSpecs } from './command.ts';
import { commands } from './commands.ts';
import { toJson } from './sanitize.ts';
import { helpWidth, wrapProse } from './text.ts';
import { wrapWords } from '../src/policy/text/face.ts';

/** Options for the print of an answer. */
interface HelpStyle {
  readonly json: boolean;
  /** Width of the output; `Infinity` when it is no terminal. */
  readonly columns: number;
}

/** Commands that a newcomer needs first, a line each: what they do alone fits beside their names in 80 columns. */
const first: Readonly<Record<string, readonly string[]>> = {
  'In front of what you have': ['install', 'mcp', 'hook', 'run', 'api', 'acp'],
  'What goes on, and what is wrong': ['doctor', 'status', 'why', 'dashboard'],
  'Without any of it': ['demo', 'agent', 'serve'],
};

/** The others, by what they are for; what is in no group is in the last. */
const others: Readonly<Record<string, readonly string[]>> = {
  look: ['alerts', 'cluster', 'drill', 'events', 'incident', 'inspect', 'machines', 'metrics', 'replay', 'report'],
  order: ['accept', 'budget', 'cancel', 'forget', 'inbox', 'letters', 'probe', 'restart'],
  'set up': [],
};

/** The groups of other commands, as rows of a name and the commands. */
function otherRows(): (readonly [string, string])[] {
  const told = new Set([first, others].flatMap((groups) => Object.values(groups).flat()));
  const left = Object.keys(commands).filter((name) => !told.has(name));
  return Object.entries(others).map(([group, names]) => {
    const there = names.filter((name) => Object.hasOwn(commands, name));
    return [group, (there.length === 0 ? left : there).join(', ')];
  });
}

/** Returns the text of `unwedge --help`, on one screen of 80 by 40. */
export function overview({ json, columns }: HelpStyle): string {
  if (json) return toJson({ commands: Object.entries(commands).map(([name, summary]) => ({ name, summary })) });
  const width = helpWidth(columns);
  const prose = (text: string): readonly string[] => wrapProse(text, width);
  return [
    ...prose('unwedge keeps agent gateways unstuck: every call ends, the session goes on, nothing is left behind.'),
    '',
    'Usage: unwedge COMMAND [OPTION...]',
    '',
    ...Object.entries(first).flatMap(([group, names]) => [
      `${group}:`,
      ...aligned(
        names.map((name) => [name.padEnd('dashboard'.length), commands[name] ?? '']),
        width,
      ),
      '',
    ]),
    'More:',
    ...aligned(otherRows(), width),
    '',
    'Options of every command:',
    ...optionLines(commonOptions, width),
    '',
    ...prose('unwedge help COMMAND says more about one of them; unwedge --version prints the version.'),
    ...prose('Exit codes: 0 done, 1 could not be done, 2 wrong usage, 128+n ended by signal n.'),
    '',
  ].join('\n');
}

/** Returns the text of `unwedge COMMAND --help`. */
export function commandHelp(command: Command, { json, columns }: HelpStyle): string {
  const { name, summary, usage, details } = command;
  const options = optionsOf(command);
  if (json) return toJson({ name, summary, usage: `unwedge ${usage}`, options });
  const width = helpWidth(columns);
  const hasDurations = Object.values(options).some(({ kind }) => kind === 'duration');
  return [
    ...wrapWords(`Usage: unwedge ${usage}`, width, '         '),
    '',
    ...wrapProse(`${name}: ${summary}.`, width),
    ...(details === undefined ? [] : ['', ...wrapProse(details, width)]),
    '',
    'Options:',
    ...optionLines(options, width),
    ...(hasDurations ? ['', ...wrapProse(durationHelp, width)] : []),
    '',
  ].join('\n');
}

const durationHelp =
  'DURATION is a number with ms, s, m, h or d, such as 500ms, 30s, 5m, 1.5h; without a unit: seconds.';

/** The options of a command, the common ones last. */
export function optionsOf({ options, ownsNoOutput }: Pick<Command, 'options' | 'ownsNoOutput'>): OptionSpecs {
  const { json, ...others } = commonOptions;
  return { ...options, ...(ownsNoOutput !== true && { json }), ...others };
}

function optionLines(options: OptionSpecs, width: number): readonly string[] {
  return aligned(
    Object.entries(options).map(([name, spec]) => [written(name, spec), described(spec)]),
    width,
  );
}

function written(name: string, spec: OptionSpec): string {
  switch (spec.kind) {
    case 'flag':
      return spec.short === undefined ? `--${name}` : `--${name}, -${spec.short}`;
    case 'text':
    case 'list':
      return `--${name} ${spec.value}`;
    case 'duration':
      return `--${name} DURATION`;
    case 'count':
      return `--${name} N`;
  }
}

function described(spec: OptionSpec): string {
  if (spec.kind === 'list') return `${spec.help}; may be repeated`;
  if (spec.kind !== 'count') return spec.help;
  // The default is said already, or is no number that could be given.
  const usually = spec.defaultValue === 0 || spec.help.includes('; else ') ? '' : `, else ${spec.defaultValue}`;
  return `${spec.help} (${spec.min ?? 1} to ${spec.max}${usually})`;
}

/** The widest left side that what is said of it stands beside. */
const widestLeft = 28;

function aligned(rows: readonly (readonly [string, string])[], width: number): readonly string[] {
  const beside = rows.map(([left]) => left.length).filter((length) => length <= widestLeft);
  const indent = ' '.repeat(Math.max(0, ...beside) + 4);
  return rows.flatMap(([left, right]) => {
    const [first = '', ...others] = wrapWords(right, width - indent.length).map((line) => `${indent}${line}`);
    const isBeside = left.length + 4 <= indent.length;
    const start = `  ${left.padEnd(indent.length - 2)}`;
    return isBeside ? [start + first.slice(indent.length), ...others] : [`  ${left}`, first, ...others];
  });
}
