import { recordIn } from '../src/protocol/agentReport.ts';
import { type Slot, toMessages, toTurns, type Turn } from './anthropicTurns.ts';
import type { Findings } from './findings.ts';
import type { Interrupted } from './interrupted.ts';
import { OwnIds } from './ownIds.ts';
import { type Call, joined } from './calls.ts';
import { type Entry, pair } from './pairing.ts';

type SlotResult = NonNullable<Slot['result']>;

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
  const { kept, more, calls: sound, groups } = pair(entries, findings);
  const ids = new OwnIds(
    entries.map(({ call, result }) => (call ?? result)?.id ?? ''),
    findings,
  );
  for (const group of groups) ids.tellApart(group);
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
