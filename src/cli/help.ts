import { type Command, commonOptions, type OptionSpec, type OptionSpecs } from './command.ts';
import { commands } from './commands.ts';
import { toJson } from './sanitize.ts';

/** What `unwedge --help` prints. */
export function overview(json: boolean): string {
  const rows = Object.entries(commands).map(([name, { summary }]) => ({ name, summary }));
  if (json) return toJson({ commands: rows });
  return [
    'unwedge keeps agent gateways unstuck: every call ends, the session goes on, nothing is left behind.',
    '',
    'Usage: unwedge COMMAND [OPTION...]',
    '',
    'Commands:',
    ...aligned(rows.map(({ name, summary }) => [name, summary])),
    '',
    'Options of every command:',
    ...optionLines(commonOptions),
    '',
    'unwedge help COMMAND says more about one of them; unwedge --version prints the version.',
    'Exit codes: 0 done, 1 could not be done, 2 wrong usage, 128+n ended by signal n.',
    '',
  ].join('\n');
}

/** What `unwedge COMMAND --help` prints. */
export function commandHelp(command: Command, json: boolean): string {
  const { name, summary, usage, details } = command;
  const { json: forMachines, ...others } = commonOptions;
  const options = { ...command.options, ...(command.ownsNoOutput !== true && { json: forMachines }), ...others };
  if (json) return toJson({ name, summary, usage: `unwedge ${usage}`, options });
  return [
    `Usage: unwedge ${usage}`,
    '',
    `${name}: ${summary}.`,
    ...(details === undefined ? [] : ['', details]),
    '',
    'Options:',
    ...optionLines(options),
    '',
  ].join('\n');
}

function optionLines(options: OptionSpecs): string[] {
  return aligned(Object.entries(options).map(([name, spec]) => [written(name, spec), described(spec)]));
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
  if (spec.kind === 'duration') return `${spec.help} (500ms, 30s, 5m, 1h)`;
  if (spec.kind === 'list') return `${spec.help}; may be repeated`;
  return spec.kind === 'count' ? `${spec.help} (1 to ${spec.max}, else ${spec.defaultValue})` : spec.help;
}

function aligned(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
