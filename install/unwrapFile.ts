import { unwrapArgv } from './argvEdits.ts';
import type { Document } from './document.ts';
import { entryName, type EntryReport, nameOptions, type Program, wordsOf } from './entry.ts';
import { readWrappedLine, unwrapLine } from './agentLine.ts';
import { readWrappedHook, unwrapShellHook } from './hookText.ts';
import { areOwnOptions, readOwnCommand } from './launcher.ts';
import { findPrograms, type Places } from './programs.ts';
import type { EntryRecord } from './record.ts';
import type { TextEdit } from './tree.ts';

/** An entry that is ours, what it was, and the way back. */
export interface Unwrapped {
  readonly report: EntryReport & Pick<Program, 'kind'>;
  readonly edits: readonly TextEdit[];
  readonly path: Program['path'];
  readonly commandKey: string;
  /** The command of before. */
  readonly command: string;
  /** The arguments of before; `none`: there was no list. Undefined for a line for a shell, whose entry has none. */
  readonly args: readonly string[] | 'none' | undefined;
  readonly record: EntryRecord | undefined;
}

/**
 * Finds what of a file is ours, and the way back of each.
 * @param records - what was written into it; undefined when there is no record: then what looks as `install` writes it is ours.
 */
export function unwrapEntries(
  document: Document,
  file: Places,
  records: readonly EntryRecord[] | undefined,
  scripts: ReadonlySet<string>,
): readonly Unwrapped[] {
  return findPrograms(document, file).flatMap((found) => {
    if ('why' in found) return [];
    const { program } = found;
    const read = program.isShell ? (program.kind === 'agent' ? lineEntry : shellEntry) : argvEntry;
    const own = read(document, program, records, scripts);
    return own === undefined ? [] : [own];
  });
}

function argvEntry(
  document: Document,
  program: Program,
  records: readonly EntryRecord[] | undefined,
  scripts: ReadonlySet<string>,
): Unwrapped | undefined {
  const own = readOwnCommand(wordsOf(program), scripts);
  if (own?.wraps?.verb !== program.verb) return undefined;
  const { options, rest, verb } = own.wraps;
  const [command = '', ...args] = rest;
  const record = recordOf(records, program, command);
  if (records === undefined ? !areOwnOptions(verb, options, nameOptions(program)) : record === undefined)
    return undefined;
  // The words that start the program but for its command, the verb, the options, `--` and the original command.
  const ours = own.launcherWords - 1 + 1 + options.length + 1 + 1;
  const hadArgs = record?.hadArgs ?? true;
  return {
    report: { kind: program.kind, name: entryName(program, command), action: 'restored' },
    edits: unwrapArgv(document, program, ours, hadArgs, document.format === 'yaml' ? record?.raw : undefined),
    path: program.path,
    commandKey: program.commandKey,
    command,
    args: args.length === 0 && !hadArgs ? 'none' : args,
    record,
  };
}

function shellEntry(
  document: Document,
  program: Program,
  records: readonly EntryRecord[] | undefined,
  scripts: ReadonlySet<string>,
): Unwrapped | undefined {
  const wrapped = readWrappedHook(program.command.value, scripts);
  if (wrapped === undefined) return undefined;
  const record = recordOf(records, program, wrapped.original);
  if (records === undefined ? !areOwnOptions('hook', wrapped.options) : record === undefined) return undefined;
  return {
    report: { kind: program.kind, name: entryName(program, wrapped.original), action: 'restored' },
    edits: [unwrapShellHook(document, program, wrapped, record?.raw)],
    path: program.path,
    commandKey: program.commandKey,
    command: wrapped.original,
    args: undefined,
    record,
  };
}

function lineEntry(
  document: Document,
  program: Program,
  records: readonly EntryRecord[] | undefined,
  scripts: ReadonlySet<string>,
): Unwrapped | undefined {
  const line = readWrappedLine(program.command.value, scripts);
  if (line === undefined) return undefined;
  const { kind, path, commandKey } = program;
  const record = recordOf(records, program, line.original);
  const isOwn = records === undefined ? areOwnOptions('acp', line.options, nameOptions(program)) : record !== undefined;
  if (!isOwn) return undefined;
  return {
    report: { kind, name: entryName(program), action: 'restored' },
    edits: [unwrapLine(document, program, line)],
    path,
    commandKey,
    command: line.original,
    args: undefined,
    record,
  };
}

/** By its place; of an entry that was moved or renamed, by its command. */
function recordOf(
  records: readonly EntryRecord[] | undefined,
  { kind, path, commandKey }: Program,
  command: string,
): EntryRecord | undefined {
  const same = records?.filter((each) => each.kind === kind && each.command === command) ?? [];
  const place = JSON.stringify([path, commandKey]);
  return same.find((each) => JSON.stringify([each.path, each.commandKey]) === place) ?? same[0];
}
