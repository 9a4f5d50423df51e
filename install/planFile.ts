import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ConfigFile, FileSetting } from './configFile.ts';
import { bytesOf, type Document, readDocument, readValue } from './document.ts';
import type { EntryReport } from './entry.ts';
import { addGuard, guardEntry, valueWithoutGuard, withoutGuard } from './guard.ts';
import type { EntryRecord, FileRecord, SettingRecord } from './record.ts';
import { applyEdits, DocumentError, type Range, type TextEdit } from './tree.ts';
import { unwrapEntries, type Unwrapped } from './unwrapFile.ts';
import { wrapEntries, type Wrapping } from './wrapFile.ts';
import { topFieldsEnd } from './tomlTree.ts';

/** Plan for a file, before anything is written. */
export interface FilePlan {
  readonly document: Document;
  readonly edits: readonly TextEdit[];
  readonly entries: readonly EntryReport[];
  /** Bytes to be written; undefined when nothing is to be changed. */
  readonly after: Buffer | undefined;
  /** The file without anything of ours. */
  readonly original: Buffer;
  /** All that is ours in `after`. */
  readonly records: readonly EntryRecord[];
  readonly setting?: SettingRecord | undefined;
  /** True where, after an undo, the file is again what it was before it was changed first. Undefined when that is not on record. */
  readonly isExact?: boolean | undefined;
}

export function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/**
 * Puts unwedge in front of what a file starts.
 * @throws {@link DocumentError} when it cannot be read, or not be changed without changing more.
 */
export function planWrap(
  bytes: Buffer,
  file: ConfigFile,
  wrapping: Wrapping,
  record: FileRecord | undefined,
): FilePlan {
  const document = readDocument(bytes, file.format);
  const judged = wrapping.withGuard === undefined ? wrapEntries(document, file, wrapping) : [];
  const guard = wrapping.withGuard === true ? addGuard(document, wrapping.launcher) : [];
  const isInFront = judged.some(({ report }) => report.kind === 'server' && report.action !== 'left');
  const put = isInFront && file.setting !== undefined ? writeSetting(document, file.setting) : undefined;
  const edits = [...judged.flatMap((each) => each.edits), ...(put === undefined ? [] : [put.edit]), ...guard];
  const entries = [...judged.map(({ report }) => report), ...(put === undefined ? [] : [put.report])];
  if (wrapping.withGuard === true) entries.push({ ...guardEntry, action: guard.length > 0 ? 'set' : 'already' });
  if (edits.length === 0) {
    const { entries: records = [], setting } = record ?? {};
    return { document, edits, entries, after: undefined, original: bytes, records, setting };
  }
  const text = applyEdits(document.text, edits);
  const { scripts } = wrapping;
  const before = findOwn(document, file, record, scripts);
  const added = judged.flatMap((each) => (each.record === undefined ? [] : [each.record]));
  const records = [...before.entries.flatMap((own) => own.record ?? recordOf(own)), ...added];
  const setting = (put ?? before.setting)?.record;
  const original = restoredText(document, before);

  // The way back is tried before the way there is taken.
  const after = bytesOf(document, text);
  const written = readDocument(after, file.format);
  const ours = findOwn(written, file, { entries: records, setting }, scripts);
  if (restoredText(written, ours) !== original) throw new DocumentError('the change could not be undone to the byte');
  checkSame(written, original, ours.entries, ours.setting);
  checkSame(document, original, before.entries, before.setting);
  return { document, edits, entries, after, original: bytesOf(document, original), records, setting };
}

/** All of a file that is ours, with the way back of each. */
interface Own {
  readonly entries: readonly Unwrapped[];
  readonly setting: OwnSetting | undefined;
}

/** @param record - undefined when there is none: a setting then counts as ours only beside entries that do. */
function findOwn(
  document: Document,
  file: ConfigFile,
  record: Pick<FileRecord, 'entries' | 'setting'> | undefined,
  scripts: ReadonlySet<string>,
): Own {
  const entries = unwrapEntries(document, file, record?.entries, scripts);
  const isOurs = record === undefined ? entries.length > 0 : record.setting !== undefined;
  const key = record?.setting ?? file.setting;
  const setting = isOurs && key !== undefined ? takeSetting(document, key, record?.setting) : undefined;
  return { entries, setting };
}

/** Makes the record of one that was wrapped without a record, on another machine perhaps. */
function recordOf({ report, path, commandKey, command, args }: Unwrapped): EntryRecord {
  return { kind: report.kind, path, commandKey, command, raw: JSON.stringify(command), hadArgs: args !== 'none' };
}

const editsOf = ({ entries, setting }: Own): readonly TextEdit[] => [
  ...entries.flatMap(({ edits }) => edits),
  ...(setting === undefined ? [] : [setting.edit]),
];

function restoredText(document: Document, own: Own): string {
  const text = applyEdits(document.text, editsOf(own));
  return document.format === 'json' ? withoutGuard(text) : text;
}

/**
 * Takes out of a file what is ours, whatever was changed around it since.
 * @throws {@link DocumentError} as {@link planWrap} does.
 */
export function planUnwrap(
  bytes: Buffer,
  file: ConfigFile,
  record: FileRecord | undefined,
  scripts: ReadonlySet<string>,
): FilePlan {
  const document = readDocument(bytes, file.format);
  const ours = findOwn(document, file, record, scripts);
  const text = restoredText(document, ours);
  const hasGuard = text !== applyEdits(document.text, editsOf(ours));
  const edits = hasGuard ? [{ range: [0, document.text.length], text } as const] : editsOf(ours);
  const entries = [...ours.entries, ...(ours.setting === undefined ? [] : [ours.setting])].map(({ report }) => report);
  if (hasGuard) entries.push({ ...guardEntry, action: 'restored' });
  if (edits.length > 0) {
    readDocument(bytesOf(document, text), file.format);
    checkSame(document, text, ours.entries, ours.setting);
  }
  const original = bytesOf(document, text);
  const isExact = record === undefined ? undefined : hashOf(original) === record.original;
  const after = edits.length === 0 ? undefined : original;
  return { document, edits, entries, after, original, records: [], isExact };
}

/**
 * Checks that two texts of a file say the same, but for what is ours in the first one. Read by another parser than the one that made the second.
 * @throws {@link DocumentError} when they do not, or when one cannot be read.
 */
export function checkSame(document: Document, other: string, ours: readonly Unwrapped[], setting?: OwnSetting): void {
  const value = readValue(document.text, document.format);
  for (const entry of ours) restore(value, entry);
  if (setting !== undefined) restoreSetting(value as Record<string, unknown>, setting);
  const same = document.format === 'json' ? valueWithoutGuard : (each: unknown) => each;
  if (!isDeepStrictEqual(same(value), same(readValue(other, document.format)))) {
    throw new DocumentError('what would be written does not say the same as before');
  }
}

type Fields = Record<string | number, unknown>;

function restore(root: unknown, { path, commandKey, command, args }: Unwrapped): void {
  let at = root as Fields | undefined;
  for (const step of path) at = at?.[step] as Fields | undefined;
  if (at === undefined) return;
  if (Array.isArray(at[commandKey])) {
    at[commandKey] = [command, ...(args === undefined || args === 'none' ? [] : args)];
    return;
  }
  at[commandKey] = command;
  if (args === 'none') delete at['args'];
  else if (args !== undefined) at['args'] = args;
}

/** A setting that is ours, and the way there or back. */
interface OwnSetting {
  readonly report: EntryReport;
  readonly edit: TextEdit;
  readonly record: SettingRecord;
}

/** Tells a limit that is shorter; 0 is one without end. */
export const isLess = (given: number, value: number): boolean => given !== 0 && given < value;

/** Undefined when the file says enough already, or what is no number. */
function writeSetting(document: Document, { key, value, why }: FileSetting): OwnSetting | undefined {
  const report: EntryReport = { kind: 'setting', name: `${key} = ${value}`, action: 'set', why };
  const field = document.root.fields.get(key);
  if (field === undefined) return { report, edit: addedLine(document, lineOf(key, value)), record: { key, value } };
  const { value: node } = field;
  if (node.kind !== 'scalar' || typeof node.value !== 'number' || !isLess(node.value, value)) return undefined;
  const raw = document.text.slice(...node.range);
  return { report, edit: { range: node.range, text: String(value) }, record: { key, value, raw } };
}

/**
 * Gives the way back of a setting that is as it was written; one that was changed since is the user's.
 * @param record - what was written; undefined: whatever looks as it is written where there was none.
 */
function takeSetting(
  document: Document,
  { key, value }: Pick<FileSetting, 'key' | 'value'>,
  record: SettingRecord | undefined,
): OwnSetting | undefined {
  const raw = record?.raw;
  const field = document.root.fields.get(key);
  if (field?.value.kind !== 'scalar' || field.value.value !== value) return undefined;
  if (record === undefined && document.text.slice(...field.range) !== lineOf(key, value)) return undefined;
  return {
    report: { kind: 'setting', name: key, action: 'restored' },
    edit:
      raw === undefined
        ? { range: wholeLine(document.text, field.range), text: '' }
        : { range: field.value.range, text: raw },
    record: { key, value, ...(raw === undefined ? {} : { raw }) },
  };
}

/** Takes it out of a value that was read from the file. */
function restoreSetting(root: Record<string, unknown>, { record: { key, raw } }: OwnSetting): void {
  if (raw === undefined) delete root[key];
  else root[key] = (readValue(`value = ${raw}`, 'toml') as Record<string, unknown>)['value'];
}

const lineOf = (key: string, value: number): string => `${key} = ${value}`;

/** Behind the last field of the top level: what follows may be the comment of a table. */
function addedLine({ text, eol }: Document, line: string): TextEdit {
  const end = topFieldsEnd(text);
  const next = end === undefined ? 0 : text.indexOf('\n', end) + 1;
  if (end !== undefined && next === 0) return { range: [text.length, text.length], text: eol + line };
  return { range: [next, next], text: line + eol };
}

/** The line of a field with one line break, unless there is more in it. */
function wholeLine(text: string, [start, end]: Range): Range {
  const before = /(?:^|\r?\n)[ \t]*$/.exec(text.slice(0, start))?.[0];
  const behind = /^[ \t]*(\r?\n|$)/.exec(text.slice(end));
  if (before === undefined || behind === null) return [start, end];
  const [rest, lineBreak] = behind;
  const indent = /[ \t]*$/.exec(before)?.[0].length ?? 0;
  return [lineBreak === '' ? start - before.length : start - indent, end + rest.length];
}
