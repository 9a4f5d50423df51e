import { recordIn } from '../src/protocol/face.ts';
import { kindOfCall, kindsOfOutput } from './responsesTools.ts';

/** The formats of histories that can be repaired. */
export const transcriptFormats = ['anthropic', 'openai-chat', 'openai-responses', 'claude-code'] as const;

/** A format of histories that can be repaired. */
export type TranscriptFormat = (typeof transcriptFormats)[number];

/**
 * The formats that these entries bear a mark of; none when they are plain messages, which are the same in several formats.
 * @param given - fields of the object that holds them.
 */
export function formatsOf(entries: readonly unknown[], given: readonly string[] = []): readonly TranscriptFormat[] {
  if (given.includes('input')) return ['openai-responses'];
  const found = new Set<TranscriptFormat>();
  for (const entry of entries) {
    const record = recordIn(entry);
    if (record === undefined) continue;
    // The entry of a session's log wraps a message of another format.
    const format = isLogEntry(record) ? 'claude-code' : (ofItem(record) ?? ofMessage(record));
    if (format !== undefined) found.add(format);
  }
  return [...found];
}

type Fields = Readonly<Record<string, unknown>>;

/** Tells whether it is an entry of a session's log of Claude Code. */
export function isLogEntry(entry: Fields): boolean {
  const { type, uuid, sessionId, leafUuid } = entry;
  return typeof type === 'string' && [uuid, sessionId, leafUuid].some((id) => typeof id === 'string');
}

const itemTypes = new Set(['reasoning', 'item_reference', 'compaction']);
const itemParts = new Set(['input_text', 'output_text', 'input_image', 'input_file']);

function ofItem({ type, role, content }: Fields): TranscriptFormat | undefined {
  const isItem = kindOfCall(type) !== undefined || kindsOfOutput(type).length > 0 || itemTypes.has(String(type));
  // An answer of Anthropic's that was stored whole is of the type `message`, too; its content is never a text.
  if (isItem || (type === 'message' && role !== undefined && typeof content === 'string')) return 'openai-responses';
  return partTypes(content).some((part) => itemParts.has(part)) ? 'openai-responses' : undefined;
}

const chatParts = new Set(['image_url', 'input_audio', 'refusal', 'file']);
const anthropicParts = new Set([
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'server_tool_use',
  'image',
  'document',
  'search_result',
]);

function ofMessage({ role, content, tool_calls: calls, tool_call_id: callId }: Fields): TranscriptFormat | undefined {
  const isOfChat = role === 'tool' || role === 'function' || Array.isArray(calls) || callId !== undefined;
  if (isOfChat || partTypes(content).some((part) => chatParts.has(part))) return 'openai-chat';
  return partTypes(content).some((part) => anthropicParts.has(part)) ? 'anthropic' : undefined;
}

function partTypes(content: unknown): string[] {
  return Array.isArray(content) ? content.map((part) => String(recordIn(part)?.['type'])) : [];
}
