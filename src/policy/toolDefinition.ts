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
/** Most lines of a difference that are shown, and most characters of one. */
const mostLines = 1000;
const mostChars = 2000;

export function definitionOf(tool: ListedTool): ToolDefinition {
  const said = canonicalJson(parts.map((part) => tool[part] ?? null)) ?? '';
  return { hash: createHash('sha256').update(said).digest('base64url'), tool };
}

/** Names the parts in which two definitions differ. */
export function changedParts(before: ListedTool, after: ListedTool): readonly string[] {
  return parts.filter((part) => linesOf(before, part).join() !== linesOf(after, part).join());
}

/** Writes how a definition differs from the one before, in lines: `-` for one that is gone, `+` for one that came. */
export function changedLines(before: ListedTool, after: ListedTool): readonly string[] {
  const lines = parts.flatMap((part) => {
    const [old, now] = [linesOf(before, part), linesOf(after, part)];
    const gone = old.filter((line) => !now.includes(line)).map((line) => `- ${line}`);
    return [...gone, ...now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`)];
  });
  const shown = lines.slice(0, mostLines).map((line) => line.slice(0, mostChars));
  return lines.length > mostLines ? [...shown, `… and ${lines.length - mostLines} more lines`] : shown;
}

function linesOf(tool: ListedTool, part: string): readonly string[] {
  const { [part]: value } = tool;
  if (value === undefined) return [];
  const text =
    typeof value === 'string' ? value : JSON.stringify(JSON.parse(canonicalJson(value) ?? '0'), undefined, 1);
  return text.split('\n').map((line) => `${part}: ${line}`);
}
