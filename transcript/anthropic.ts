import { recordIn, textIn } from '../src/protocol/face.ts';
import type { Findings } from './findings.ts';
import type { Interrupted } from './interrupted.ts';
import type { OwnIds } from './ownIds.ts';
import { type Call, idIn, joined, type Result } from './calls.ts';
import { type Entry, pair } from './pairing.ts';

/** A content block in its place; the same block may stand in several. */
interface Slot {
  readonly block: unknown;
  readonly call?: Call | undefined;
  readonly result?: SlotResult | undefined;
}

interface SlotResult extends Result {
  readonly block: unknown;
}

/** A message while it is repaired. */
interface Turn {
  readonly at: number;
  readonly role: string | undefined;
  readonly message: unknown;
  readonly slots: readonly Slot[];
  /** True once `slots` are no longer what the message holds. */
  readonly isChanged: boolean;
}

/**
 * Repairs messages of Anthropic's API: the results of an assistant's `tool_use` blocks stand first in the very next message, which
 * is a user's. What the server runs itself (`server_tool_use` and its results) is part of the assistant's message and is left
 * alone, as is every block of another type. What needs no change stays the same object.
 */
export function repairAnthropic(messages: readonly unknown[], findings: Findings, interrupted: Interrupted): unknown[] {
  const found = toTurns(messages, findings, interrupted);
  const entries = found.flatMap(({ slots }, index): Entry<Call, SlotResult>[] => {
    const isNext = found[index]?.role !== 'assistant' || found[index - 1]?.role !== 'assistant';
    const pairs = slots.flatMap(({ call, result }): Entry<Call, SlotResult>[] => {
      if (call !== undefined) return [{ call }];
      return result === undefined ? [] : [{ result }];
    });
    return [...(isNext ? [{}] : []), ...pairs];
  });
  const { kept, more, calls: sound, ids } = pair(entries, findings);
  const turns = found.map((turn) => withSoundCalls(turn, sound, ids));

  return toMessages(
    turns.flatMap((turn, index) => {
      const asked = callsOf(turns[index - 1]);
      const isHome = turn.role === 'user';
      const self = withResults(turn, isHome ? asked : []);
      const isLast = index === turns.length - 1;
      return [
        ...(isHome || asked.length === 0 ? [] : [answering(turns[index - 1], asked)]),
        self,
        ...(isLast && callsOf(turn).length > 0 ? [answering(turn, callsOf(turn))] : []),
      ];
    }),
  );

  /** A message of its own for results that have none. */
  function answering(asked: Turn | undefined, calls: readonly Call[]): Turn {
    const message = { role: 'user' };
    return { at: asked?.at ?? 0, role: 'user', message, slots: calls.map((call) => answer(call, [])), isChanged: true };
  }

  /** The turn with the results of `calls` first and no others. */
  function withResults(turn: Turn, calls: readonly Call[]): Turn {
    const wanted = new Set<SlotResult | undefined>(calls.map((call) => kept.get(call)));
    const firstOther = turn.slots.findIndex(({ result }) => result === undefined);
    const leading = firstOther < 0 ? turn.slots : turn.slots.slice(0, firstOther);
    const results = turn.slots.filter(({ result }) => result !== undefined);
    const isRight =
      results.length === calls.length &&
      leading.length === calls.length &&
      leading.every(({ result }) => result !== undefined && wanted.has(result)) &&
      calls.every((call) => kept.get(call)?.id === ids.of(call)) &&
      leading.every(({ result }) => result === undefined || !more.has(result));
    if (isRight) return turn;
    const rest = turn.slots.filter(({ result }) => result === undefined);
    return {
      ...turn,
      slots: [...calls.map((call) => answer(call, leading)), ...textOf(turn), ...rest],
      isChanged: true,
    };
  }

  /** Returns what answers a call, told to `findings` unless it stands among `leading` already. */
  function answer(call: Call, leading: readonly Slot[]): Slot {
    const { tool, at } = call;
    const id = ids.of(call);
    const result = kept.get(call);
    if (result === undefined) {
      findings.add({ rule: 'unanswered', at, callId: id, tool });
      const { sentence } = interrupted;
      return { block: { type: 'tool_result', tool_use_id: id, content: sentence, is_error: true } };
    }
    if (leading.every((slot) => slot.result !== result)) {
      findings.add({ rule: 'displaced', at: result.at, callId: id, tool });
    }
    const others = more.get(result) ?? [];
    if (result.id === id && others.length === 0) return { block: result.block };
    if (result.id === '') findings.add({ rule: 'ambiguous_id', at: result.at, callId: id, tool });
    const content = joined(
      result.content,
      others.map((each) => each.content),
      textPart,
    );
    return { block: { ...recordIn(result.block), content, tool_use_id: id } };
  }
}

const textPart = (text: string): object => ({ type: 'text', text });

/** The turn without the calls that go, and with the ids that its calls have in the end. */
function withSoundCalls(turn: Turn, sound: ReadonlySet<Call>, ids: OwnIds): Turn {
  if (turn.slots.every(({ call }) => call === undefined || (sound.has(call) && !ids.isNew(call)))) return turn;
  const slots = turn.slots.flatMap((slot) => {
    const { block, call } = slot;
    if (call === undefined) return slot;
    if (!sound.has(call)) return [];
    return ids.isNew(call) ? { ...slot, block: { ...recordIn(block), id: ids.of(call) } } : slot;
  });
  return { ...turn, slots, isChanged: true };
}

function callsOf(turn: Turn | undefined): readonly Call[] {
  return turn?.slots.flatMap(({ call }) => call ?? []) ?? [];
}

/** A content that is a text, as a block; a blank one would be refused. */
function textOf({ message }: Turn): Slot[] {
  const text = recordIn(message)?.['content'];
  return typeof text === 'string' && text.trim() !== '' ? [{ block: { type: 'text', text } }] : [];
}

/** The messages as turns: parallel calls that came in messages of their own are joined. */
function toTurns(messages: readonly unknown[], findings: Findings, interrupted: Interrupted): Turn[] {
  const turns: Turn[] = [];
  messages.forEach((message, at) => {
    const turn = toTurn(message, at, interrupted);
    const before = turns.at(-1);
    if (before === undefined || !continues(before, turn)) {
      turns.push(turn);
      return;
    }
    findings.add({ rule: 'split_turn', at });
    const slots = [...before.slots.map(gonePast), ...turn.slots];
    turns[turns.length - 1] = { ...before, slots, isChanged: true };
  });
  return turns;
}

/** A block that more of its answer follows: it was not cut off where the answer was. */
function gonePast(slot: Slot): Slot {
  const { call } = slot;
  return call === undefined ? slot : { ...slot, call: { ...call, isPartial: recordIn(call.input) === undefined } };
}

function toTurn(message: unknown, at: number, { stands }: Interrupted): Turn {
  const record = recordIn(message);
  const role = textIn(record?.['role']);
  const blocks: readonly unknown[] = Array.isArray(record?.['content']) ? record['content'] : [];
  const wasCutOff = recordIn(message)?.['stop_reason'] === 'max_tokens';
  const slots = blocks.map((block, index): Slot => {
    const fields = recordIn(block);
    if (fields?.['type'] === 'tool_use' && role === 'assistant') {
      const { id, name, input } = fields;
      const isPartial = recordIn(input) === undefined || (wasCutOff && index === blocks.length - 1);
      return { block, call: { id: idIn(id), tool: textIn(name), input, isPartial, at } };
    }
    if (fields?.['type'] !== 'tool_result') return { block };
    const content = fields['content'];
    const id = idIn(fields['tool_use_id']);
    return { block, result: { id, at, content, synthetic: stands(content), block } };
  });
  return { at, role, message, slots, isChanged: false };
}

/** Tells whether a message holds more calls of the turn before it. Asked for one by one they would need results one by one. */
function continues(before: Turn, turn: Turn): boolean {
  if (before.role !== 'assistant' || turn.role !== 'assistant' || before.slots.every(({ call }) => !call)) return false;
  const id = recordIn(turn.message)?.['id'];
  const isSame = typeof id === 'string' && id === recordIn(before.message)?.['id'];
  return turn.slots.length > 0 && (isSame || turn.slots.every(({ call }) => call !== undefined));
}

/** Text in a message that lost all it held, where leaving it out would bring two messages of one role together. */
const emptied = { type: 'text', text: '[Tool results that stood here belong elsewhere or to no call.]' };
const emptiedOfCalls = { type: 'text', text: '[A tool call that was cut off stood here.]' };

/** No message may end with them. */
const thoughts: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

/** The turns as messages. */
function toMessages(turns: readonly Turn[]): unknown[] {
  const messages: unknown[] = [];
  let before: string | undefined;
  turns.forEach((turn, index) => {
    const { role, message, slots, isChanged } = turn;
    const content: unknown[] = slots.map(({ block }) => block);
    if (isChanged && content.length === 0) {
      const after = turns[index + 1]?.role;
      const mayGo = before === role || after === role || (role === 'assistant' && (!before || !after));
      if (mayGo) return;
      content.push(role === 'assistant' ? emptiedOfCalls : emptied);
    } else if (isChanged && role === 'assistant' && thoughts.has(recordIn(content.at(-1))?.['type'])) {
      content.push(emptiedOfCalls);
    }
    messages.push(isChanged ? { ...recordIn(message), content } : message);
    before = role;
  });
  return messages;
}
