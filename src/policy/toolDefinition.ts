import { createHash } from 'node:crypto';
import { canonicalJson } from './text/canonicalJson.ts';

/** A tool as its server lists it. */
export type ListedTool = Readonly<Record<string, unknown>>;

/** A tool as it was seen. */
export interface ToolDefinition {
  /** Of the parts that say what it is. */
  readonly hash: string;
  readonly tool: ListedTool;
}

/** The definitions of a server, as they are kept. */
export interface KnownDefinitions {
  /** All of them were seen: a tool that comes later is a new one. @defaultValue false */
  readonly isWhole?: boolean;
  readonly tools: Readonly<Record<string, ToolDefinition>>;
}

/** The parts that callers go by; all else may change. */
const parts = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'];
/** Most characters of a difference that are kept; of a line that changed, those that are shown on each side of what did. */
const mostChars = 1_000_000;
const around = 60;

/** The definition of a tool; undefined of one that nests too deep to be compared. */
export function definitionOf(tool: ListedTool): ToolDefinition | undefined {
  const said = canonicalJson(parts.map((part) => tool[part] ?? null));
  return said === undefined ? undefined : { hash: createHash('sha256').update(said).digest('base64url'), tool };
}

/** Names the parts in which two definitions differ. */
export function changedParts(before: ListedTool, after: ListedTool): readonly string[] {
  return parts.filter((part) => canonicalJson(before[part] ?? null) !== canonicalJson(after[part] ?? null));
}

/**
 * Writes how a definition differs from the one before, in lines: `-` for one that is gone, `+` for one that came. All that differs is there, and can be seen:
 * what has no shape of its own is written as `\u{200b}`; of a long line it is what differs, with some characters around.
 */
export function changedLines(before: ListedTool, after: ListedTool): readonly string[] {
  const lines = parts.flatMap((part) => {
    const [old, now] = [linesOf(before, part), linesOf(after, part)];
    const gone = [...old].filter(([place, line]) => now.get(place) !== line);
    const came = [...now].filter(([place, line]) => old.get(place) !== line);
    const shown = (sign: string, [place, line]: readonly [string, string], other = ''): string =>
      `${sign} ${seen(place)}: ${seen(differing(line, other))}`;
    return [
      ...gone.map((each) => shown('-', each, now.get(each[0]))),
      ...came.map((each) => shown('+', each, old.get(each[0]))),
    ].map((line) => line.trimEnd());
  });
  let left = mostChars;
  const kept = lines.filter((line) => (left -= line.length) > 0);
  const more = lines.length - kept.length;
  return more === 0 ? lines : [...kept, `… and ${more} more lines, too long to be kept: ask the server for its tools`];
}

/** The lines of a text, or the values of a structure, by their places. */
function linesOf(tool: ListedTool, part: string): ReadonlyMap<string, string> {
  const { [part]: value } = tool;
  if (value === undefined || value === null) return new Map();
  if (typeof value !== 'string') return new Map(leavesOf(JSON.parse(canonicalJson(value) ?? '0'), part));
  return new Map(value.split('\n').map((line, at) => [at === 0 ? part : `${part} (line ${at + 1})`, line]));
}

function* leavesOf(value: unknown, place: string): Iterable<readonly [place: string, text: string]> {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (entries.length === 0) yield [place, JSON.stringify(value)];
  for (const [key, each] of entries)
    yield* leavesOf(each, `${place}.${/^[\w-]+$/.test(key) ? key : JSON.stringify(key)}`);
}

/** What a line has that another one in its place has not, where it is long. */
function differing(line: string, other: string): string {
  const least = Math.min(line.length, other.length);
  let [head, tail] = [0, 0];
  while (head < least && line[head] === other[head]) head++;
  while (tail < least - head && line.at(-1 - tail) === other.at(-1 - tail)) tail++;
  const [start, end] = [head - around, line.length - tail + around];
  return `${start > 0 ? '…' : ''}${line.slice(Math.max(0, start), end)}${end < line.length ? '…' : ''}`;
}

/** The text with all that has no shape of its own as escapes. */
function seen(text: string): string {
  return text
    .replaceAll(/\\(?=u\{)/g, String.raw`\\`)
    .replaceAll(unseen, (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`);
}

/** Controls, formats, marks that nothing is seen of, and spaces but a single one between words. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}|(?<=^| ) | (?=$)/gu;
