import { recordIn } from '../src/protocol/agentReport.ts';
import { joined } from './calls.ts';
import type { Insertion, LineEdit, Place } from './sessionPlan.ts';

type Entry = Readonly<Record<string, unknown>>;

/**
 * Returns what stands in the place of one line after its edit, in order.
 * @param entry - what the line says.
 * @param read - gives what another line says, by its number.
 */
export function editedEntries(
  entry: unknown,
  edit: LineEdit,
  read: (line: number) => unknown,
  sentence: string,
): unknown[] {
  const self = edit.isDropped === true ? [] : [editedEntry(entry, edit, read)];
  return [...self, ...edit.after.map((insertion) => insertedEntry(insertion, read, sentence))];
}

function editedEntry(
  entry: unknown,
  { parent, blocks, ids, more, fields }: LineEdit,
  read: (line: number) => unknown,
): unknown {
  const record = recordIn(entry);
  const isSame = blocks.size === 0 && ids.size === 0 && more.size === 0;
  if (record === undefined || (parent === undefined && isSame && fields.size === 0)) return entry;
  const changed = { ...record, ...Object.fromEntries(fields), ...(parent !== undefined && { parentUuid: parent }) };
  if (isSame) return changed;
  return withContent(
    changed,
    contentOf(record).flatMap((block, index) => {
      if (blocks.has(index)) return [];
      return [withMore(withId(block, ids.get(index)), more.get(index), read)];
    }),
  );
}

function insertedEntry(insertion: Insertion, read: (line: number) => unknown, sentence: string): Entry {
  const from = recordIn(read(insertion.from)) ?? {};
  if (insertion.kind === 'answer') return answer(from, insertion, sentence);
  const { block, callUuid, uuid, callId, more } = insertion;
  // Fields that belong to the line as a whole go where its uuid goes.
  const { toolUseResult: _whole, ...parts } = from;
  const fields = uuid === undefined ? from : { ...parts, uuid };
  const moved = { ...fields, parentUuid: callUuid, sourceToolAssistantUUID: callUuid };
  return withContent(moved, [withMore(withId(contentOf(from)[block], callId), more, read)]);
}

/** Fields that every line of a session has alike; a result gets them from the line of its call. */
const common = [
  'userType',
  'entrypoint',
  'cwd',
  'sessionId',
  'version',
  'gitBranch',
  'slug',
  'agentId',
  'teamName',
] as const;

function answer(call: Entry, { callId, uuid }: Insertion & { kind: 'answer' }, sentence: string): Entry {
  return {
    parentUuid: call['uuid'],
    isSidechain: call['isSidechain'] === true,
    type: 'user',
    message: {
      role: 'user',
      content: [{ type: 'tool_result', content: sentence, is_error: true, tool_use_id: callId }],
    },
    uuid,
    ...pick(call, ['timestamp']),
    toolUseResult: `Error: ${sentence}`,
    sourceToolAssistantUUID: call['uuid'],
    ...pick(call, common),
  };
}

function pick(entry: Entry, fields: readonly string[]): Entry {
  return Object.fromEntries(fields.filter((field) => field in entry).map((field) => [field, entry[field]]));
}

/** The block of a call or a result under another id of the call. */
function withId(block: unknown, id: string | undefined): unknown {
  const fields = recordIn(block);
  const field = fields?.['type'] === 'tool_use' ? 'id' : 'tool_use_id';
  return id === undefined || fields?.[field] === id ? block : { ...fields, [field]: id };
}

/** A result with what others of its call say. */
function withMore(result: unknown, places: readonly Place[] = [], read: (line: number) => unknown): unknown {
  if (places.length === 0) return result;
  const fields = recordIn(result) ?? {};
  const said = places.map(({ line, block }) => recordIn(contentOf(recordIn(read(line)) ?? {})[block])?.['content']);
  return { ...fields, content: joined(fields['content'], said, (text) => ({ type: 'text', text })) };
}

function contentOf(entry: Entry): readonly unknown[] {
  const content = recordIn(entry['message'])?.['content'];
  return Array.isArray(content) ? content : [];
}

function withContent(entry: Entry, content: readonly unknown[]): Entry {
  return { ...entry, message: { ...recordIn(entry['message']), content } };
}
