import type { FileSetting } from './configFile.ts';
import { type Document, readValue } from './document.ts';
import type { EntryReport } from './entry.ts';
import type { SettingRecord } from './record.ts';
import type { Range, TextEdit } from './textEdits.ts';
import { topFieldsEnd } from './tomlTree.ts';

/** A setting that is ours, and the way there or back. */
export interface OwnSetting {
  readonly report: EntryReport;
  readonly edit: TextEdit;
  readonly record: SettingRecord;
}

/** Tells a limit that is shorter; 0 is one without end. */
export const isLess = (given: number, value: number): boolean => given !== 0 && given < value;

/** Undefined when the file says enough already, or what is no number. */
export function writeSetting(document: Document, { key, value, why }: FileSetting): OwnSetting | undefined {
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
export function takeSetting(
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
export function restoreSetting(root: Record<string, unknown>, { record: { key, raw } }: OwnSetting): void {
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
