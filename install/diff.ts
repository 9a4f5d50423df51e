import { announcesSecret, isSecretName, redactText, redacted } from '../src/redaction/face.ts';
import { type Document, tokenOf } from './document.ts';
import { applyEdits, inOrder, type Node, type Range, type Scalar, type TextEdit } from './tree.ts';

/** Lines around a change. */
const context = 3;
/** A longer line is shown around its change only, in characters. */
const longestLine = 400;

/** Lines of one text in the place of lines of another: from, and up to but without. */
interface Change {
  readonly old: Range;
  readonly new: Range;
}

/**
 * A change as a unified diff, secrets hidden.
 * @param after - what the edits make of the document.
 */
export function unifiedDiff(path: string, before: Document, after: Document, edits: readonly TextEdit[]): string {
  const changes = changedLines(before.text, edits);
  const hunks = grouped(changes);
  const oldLines = masked(before, hunks.map(around('old')));
  const newLines = masked(after, hunks.map(around('new')));
  const lines = hunks.flatMap((hunk) => hunkLines(hunk, oldLines, newLines));
  return [`--- ${path}`, `+++ ${path}`, ...lines, ''].join('\n');
}

function masked(document: Document, lineRanges: readonly Range[]): readonly string[] {
  const starts = lineStarts(document.text);
  const end = document.text.length;
  const ranges = lineRanges.map(([from, to]): Range => [starts[Math.max(0, from)] ?? end, starts[to] ?? end]);
  return maskedText(document, ranges).split('\n');
}

function lineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The lines that each edit touches; edits of one line are one change. */
function changedLines(text: string, edits: readonly TextEdit[]): readonly Change[] {
  const starts = lineStarts(text);
  const changes: Change[] = [];
  let line = 0;
  let shift = 0;
  for (const { range, text: piece } of inOrder(edits)) {
    const [start, end] = range;
    while ((starts[line + 1] ?? Infinity) <= start) line++;
    let last = line;
    while ((starts[last + 1] ?? Infinity) <= end) last++;
    const grown = piece.split('\n').length - 1 - (last - line);
    // Whole lines that are put between two others change neither.
    const isBetween = start === end && start === starts[line] && piece.endsWith('\n');
    const after = isBetween ? line : last + 1;
    const change: Change = { old: [line, after], new: [line + shift, after + shift + grown] };
    const previous = changes.at(-1);
    const reached = previous === undefined ? -1 : Math.max(previous.old[1], previous.old[0] + 1);
    if (previous !== undefined && change.old[0] < reached) {
      changes[changes.length - 1] = {
        old: [previous.old[0], Math.max(previous.old[1], change.old[1])],
        new: [previous.new[0], Math.max(previous.old[1], change.old[1]) + shift + grown],
      };
    } else changes.push(change);
    shift += grown;
  }
  return changes;
}

/** Changes that share lines of context stand together. */
function grouped(changes: readonly Change[]): readonly (readonly Change[])[] {
  const groups: Change[][] = [];
  for (const change of changes) {
    const last = groups.at(-1);
    const end = last?.at(-1)?.old[1];
    if (last !== undefined && end !== undefined && change.old[0] - end <= 2 * context) last.push(change);
    else groups.push([change]);
  }
  return groups;
}

const around =
  (side: 'old' | 'new') =>
  (hunk: readonly Change[]): Range => [(hunk[0]?.[side][0] ?? 0) - context, (hunk.at(-1)?.[side][1] ?? 0) + context];

function hunkLines(hunk: readonly Change[], oldLines: readonly string[], newLines: readonly string[]): string[] {
  const [first] = hunk;
  const last = hunk.at(-1);
  if (first === undefined || last === undefined) return [];
  // The text after the last line break is no line when it is empty.
  const count = oldLines.at(-1) === '' ? oldLines.length - 1 : oldLines.length;
  const from = Math.max(0, first.old[0] - context);
  const to = Math.min(Math.max(count, last.old[1]), last.old[1] + context);
  const newFrom = first.new[0] - (first.old[0] - from);
  const newTo = last.new[1] + (to - last.old[1]);
  const lines: string[] = [`@@ -${from + 1},${to - from} +${newFrom + 1},${newTo - newFrom} @@`];
  let at = from;
  for (const change of hunk) {
    for (; at < change.old[0]; at++) lines.push(` ${shown(oldLines[at] ?? '')}`);
    const removed = oldLines.slice(...change.old);
    const added = newLines.slice(...change.new);
    lines.push(...removed.map((line, index) => `-${shown(line, added[index])}`));
    lines.push(...added.map((line, index) => `+${shown(line, removed[index])}`));
    at = change.old[1];
  }
  for (; at < to; at++) lines.push(` ${shown(oldLines[at] ?? '')}`);
  return lines;
}

/** A line without the secrets of its comments; a very long one from a little before it differs. */
function shown(line: string, other = ''): string {
  const whole = line.replace(/\r$/, '');
  if (whole.length <= longestLine) return redactText(whole);
  let same = 0;
  while (same < whole.length && whole[same] === other[same]) same++;
  const start = Math.max(0, same - 40);
  const piece = redactText(whole.slice(start, start + longestLine));
  return `${start > 0 ? '…' : ''}${piece}${start + longestLine < whole.length ? '…' : ''}`;
}

/** Fields whose values are secrets, or may be. */
const hiddenFields = /^(?:envs?|environment|.*headers|oauth)$/i;

/** The text with secrets hidden in these ranges, in as many lines. */
function maskedText({ text, root }: Document, ranges: readonly Range[]): string {
  const edits: TextEdit[] = [];
  const hide = ({ range }: Scalar, shown: string) => {
    const [start, end] = range;
    if (!ranges.some(([from, to]) => start < to && end > from)) return;
    const lines = text.slice(start, end).split('\n').length - 1;
    edits.push({ range, text: tokenOf(shown) + '\n'.repeat(lines) });
  };
  const visit = (node: Node, isHidden: boolean): void => {
    if (node.kind === 'table') {
      for (const [key, { value }] of node.fields) visit(value, isHidden || hiddenFields.test(key) || isSecretName(key));
    } else if (node.kind === 'list') {
      for (const [index, item] of node.items.entries()) {
        const before = node.items[index - 1];
        visit(item, isHidden || (before?.kind === 'scalar' && announcesSecret(before.value)));
      }
    } else if (isHidden || node.why !== undefined) hide(node, redacted);
    else if (typeof node.value === 'string') {
      const shown = redactText(node.value);
      if (shown !== node.value) hide(node, shown);
    }
  };
  visit(root, false);
  return applyEdits(text, edits);
}
