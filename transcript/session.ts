import { recordIn } from '../src/protocol/face.ts';
import { isLogEntry, transcriptFormats } from './detect.ts';
import type { Findings } from './findings.ts';
import type { Interrupted } from './interrupted.ts';
import { joined } from './calls.ts';
import { type Insertion, type LineEdit, type Place, planSession, type SessionPlan } from './sessionPlan.ts';
import { emptyScan, scanEntry } from './sessionScan.ts';

/** Repairs the entries of a session's log of Claude Code. What needs no change stays the same object. */
export function repairSession(entries: readonly unknown[], findings: Findings, interrupted: Interrupted): unknown[] {
  const plan = planOf(entries, findings, interrupted);
  const read = (line: number): unknown => entries[line - 1];
  return entries.flatMap((entry, index) => {
    const edit = plan.get(index + 1);
    return edit === undefined ? [entry] : editedEntries(entry, edit, read, interrupted.sentence);
  });
}

/**
 * Repairs the text of a session's log. Lines without a change stay as they are, those that are no JSON, too.
 * @param isGuessed - whether nobody said that the text is such a log.
 * @throws RangeError when that was guessed wrong.
 */
export function repairSessionText(
  text: string,
  findings: Findings,
  interrupted: Interrupted,
  isGuessed: boolean,
): string {
  const lines = text.split('\n');
  const isTorn = lines.at(-1) !== '';
  if (!isTorn) lines.pop();
  const entries = lines.map(parseLine);
  if (isGuessed && !entries.some((entry) => isLogEntry(recordIn(entry) ?? {}))) {
    throw new RangeError(
      `Cannot tell the format of \`history\`: no line of the text is an entry of a session; name it with \`format\`, one of ${transcriptFormats.join(', ')}`,
    );
  }
  if (isTorn && entries.at(-1) === undefined) findings.add({ rule: 'torn_end', at: lines.length });
  const plan = planOf(entries, findings, interrupted);
  const read = (line: number): unknown => entries[line - 1];
  return lines
    .flatMap((line, index) => {
      const edit = plan.get(index + 1);
      const entry = entries[index];
      if (edit === undefined) return [line];
      return editedEntries(entry, edit, read, interrupted.sentence).map((each) =>
        each === entry ? line : JSON.stringify(each),
      );
    })
    .map((line) => `${line}\n`)
    .join('');
}

/** Returns what a line says: undefined when it is no JSON, null when it is blank. */
export function parseLine(line: string): unknown {
  if (line.trim() === '') return null;
  try {
    // The first line of a file may begin with a byte order mark.
    return JSON.parse(line.startsWith('\uFEFF') ? line.slice(1) : line);
  } catch {
    return undefined;
  }
}

function planOf(entries: readonly unknown[], findings: Findings, interrupted: Interrupted): SessionPlan {
  const scan = emptyScan();
  for (const entry of entries) scanEntry(scan, entry, interrupted);
  return planSession(scan, findings);
}

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
