import { createHash } from 'node:crypto';
import { type Document, bytesOf, readDocument } from './document.ts';
import { checkSame } from './check.ts';
import type { ConfigFile } from './configFile.ts';
import type { EntryReport } from './entry.ts';
import type { EntryRecord, FileRecord } from './record.ts';
import { applyEdits, type TextEdit } from './textEdits.ts';
import { DocumentError } from './tree.ts';
import { type Unwrapped, unwrapEntries } from './unwrapFile.ts';
import { type Wrapping, wrapEntries } from './wrapFile.ts';

/** What becomes of a file, before anything is written. */
export interface FilePlan {
  readonly document: Document;
  readonly edits: readonly TextEdit[];
  readonly entries: readonly EntryReport[];
  /** What is to be written; undefined when nothing is to be changed. */
  readonly after: Buffer | undefined;
  /** The file without anything of ours. */
  readonly original: Buffer;
  /** All that is ours in `after`. */
  readonly records: readonly EntryRecord[];
  /** Of an undo: whether the file is again what it was before it was changed first. Undefined when that is not on record. */
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
  const judged = wrapEntries(document, file, wrapping);
  const edits = judged.flatMap((each) => each.edits);
  const entries = judged.map(({ report }) => report);
  if (edits.length === 0) {
    return { document, edits, entries, after: undefined, original: bytes, records: record?.entries ?? [] };
  }
  const text = applyEdits(document.text, edits);
  const { scripts } = wrapping;
  const before = unwrapEntries(document, file, record?.entries, scripts);
  const added = judged.flatMap((each) => (each.record === undefined ? [] : [each.record]));
  const records = [...before.flatMap((own) => own.record ?? recordOf(own)), ...added];
  const original = restoredText(document, before);

  // The way back is tried before the way there is taken.
  const after = bytesOf(document, text);
  const written = readDocument(after, file.format);
  const ours = unwrapEntries(written, file, records, scripts);
  if (restoredText(written, ours) !== original) throw new DocumentError('the change could not be undone to the byte');
  checkSame(written, original, ours);
  checkSame(document, original, before);
  return { document, edits, entries, after, original: bytesOf(document, original), records };
}

/** Of one that was wrapped without a record, on another machine perhaps. */
function recordOf({ report, path, commandKey, command, args }: Unwrapped): EntryRecord {
  return { kind: report.kind, path, commandKey, command, raw: JSON.stringify(command), hadArgs: args !== 'none' };
}

function restoredText(document: Document, ours: readonly Unwrapped[]): string {
  return applyEdits(
    document.text,
    ours.flatMap(({ edits }) => edits),
  );
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
  const ours = unwrapEntries(document, file, record?.entries, scripts);
  const edits = ours.flatMap((each) => each.edits);
  const entries = ours.map(({ report }) => report);
  const text = applyEdits(document.text, edits);
  if (edits.length > 0) {
    readDocument(bytesOf(document, text), file.format);
    checkSame(document, text, ours);
  }
  const original = bytesOf(document, text);
  const isExact = record === undefined ? undefined : hashOf(original) === record.original;
  const after = edits.length === 0 ? undefined : original;
  return { document, edits, entries, after, original, records: [], isExact };
}
