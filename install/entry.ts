import { commandKey } from './commandKey.ts';
import type { Verb } from './launcher.ts';
import type { Range, Table, Text } from './tree.ts';

/** Kinds of entries that start a program; an agent speaks the Agent Client Protocol. */
export type EntryKind = 'server' | 'hook' | 'agent';

/** An entry of a configuration file that starts a program. */
export interface Program {
  readonly kind: EntryKind;
  /** Name of a server or an agent; event and matcher of a hook. */
  readonly name: string;
  /** Keys and places that lead to its table. */
  readonly path: readonly (string | number)[];
  readonly table: Table;
  /** The field of the command; that of a hook may be one for a system of its own. */
  readonly commandKey: string;
  /** True where the field is a list, which has the arguments too. */
  readonly isList?: boolean | undefined;
  readonly command: Text;
  /** Undefined when it has none. */
  readonly args: { readonly range: Range; readonly items: readonly Text[] } | undefined;
  readonly verb: Verb;
  /** True where the command is a line: that of a hook for a shell, that of an agent to be split into words. */
  readonly isShell: boolean;
}

/** Action that is, or was, taken on an entry. */
type Action =
  /** Put, or to be put, behind unwedge. */
  | 'wrapped'
  /** It was behind unwedge before. */
  | 'already'
  /** The path of unwedge that was written was gone. */
  | 'repaired'
  | 'left'
  /** A setting that the agent needs was written, or is to be. */
  | 'set'
  | 'restored';

/** An entry or a setting of a file, and what becomes of it. */
export interface EntryReport {
  readonly kind: EntryKind | 'setting';
  readonly name: string;
  readonly action: Action;
  /** Why it is left; of a setting, what it is for. */
  readonly why?: string | undefined;
}

/** The field of the command in an entry whose command is an object of its own. */
export const nestedKey = 'path';

/** The words of a program without a shell. */
export function wordsOf({ command, args }: Pick<Program, 'command' | 'args'>): readonly string[] {
  return [command.value, ...(args?.items ?? []).map(({ value }) => value)];
}

/** Names an entry for people: a hook also by what its command is called on record. @param command - the original one. */
export function entryName({ kind, name, isShell, command: own }: Program, command = own.value): string {
  if (kind !== 'hook') return name;
  return `${name}: ${isShell ? commandKey('/bin/sh', ['-c', command]) : commandKey(command, [])}`;
}

/**
 * The entry's own name: that of a package is the same for two entries that start it. A name that its agent would fill in, that would be taken for an
 * option, or that a table could not show is left out.
 */
export function nameOptions({ path, commandKey: key }: Program): readonly string[] {
  const name = String(path.at(key === nestedKey ? -2 : -1) ?? '');
  return /^[\p{L}\p{N}_][^\p{C}\p{Zl}\p{Zp}$]{0,99}$/u.test(name) ? ['--name', name] : [];
}
