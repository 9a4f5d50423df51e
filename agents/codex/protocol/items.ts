import { recordIn, textIn } from '../../../src/protocol/face.ts';

/** A step of a turn: a message, a command, a change of files and the like. */
export interface CodexItem {
  readonly id: string;
  /** As Codex names it: `agentMessage`, `reasoning`, `commandExecution`, `fileChange`, `mcpToolCall` …; new ones pass as they are. */
  readonly type: string;
  /** Text of a message, a plan or a reasoning. */
  readonly text?: string | undefined;
  /** `inProgress`, `completed`, `failed` or `declined`, for items that act. */
  readonly status?: string | undefined;
  /** The item as Codex sent it. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** Items that may change something; messages, reasoning, plans and searches do not. */
const acting: ReadonlySet<string> = new Set([
  'collabAgentToolCall',
  'commandExecution',
  'dynamicToolCall',
  'fileChange',
  'mcpToolCall',
]);

/** Items that are calls of tools. */
const toolCalls: ReadonlySet<string> = new Set([...acting, 'webSearch']);

/** Items that a model says again when its answer is asked for again. */
const spoken: ReadonlySet<string> = new Set(['agentMessage', 'plan', 'reasoning']);

/** Reads an item; undefined when it has no id or no type. Never throws. */
export function readItem(value: unknown): CodexItem | undefined {
  const raw = recordIn(value);
  const id = textIn(raw?.['id']);
  const type = textIn(raw?.['type']);
  if (raw === undefined || id === undefined || type === undefined) return undefined;
  return { id, type, text: said(type, raw), status: textIn(raw['status']), raw };
}

/** Tells whether the item may have changed something by now: declined, it never ran. */
export function mayAct({ type, status }: CodexItem): boolean {
  return acting.has(type) && status !== 'declined';
}

/** Tells a call of a tool, one that was declined included. */
export function isToolCall({ type }: CodexItem): boolean {
  return toolCalls.has(type);
}

/** Tells whether the item is something the model says, and says anew when its stream is tried again. */
export function isSpoken({ type }: CodexItem): boolean {
  return spoken.has(type);
}

function said(type: string, raw: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof raw['text'] === 'string') return raw['text'];
  if (type !== 'reasoning') return undefined;
  const parts = [raw['summary'], raw['content']].flatMap((part): unknown[] => (Array.isArray(part) ? part : []));
  return parts.filter((part): part is string => typeof part === 'string').join('\n');
}
