import { recordIn, textIn } from '../src/protocol/agentReport.ts';
import type { Findings } from './findings.ts';
import type { Interrupted } from './interrupted.ts';
import { type Call, idIn, type Result } from './calls.ts';

/** A content block in its place; the same block may stand in several. */
export interface Slot {
  readonly block: unknown;
  readonly call?: Call | undefined;
  readonly result?: SlotResult | undefined;
}

interface SlotResult extends Result {
  readonly block: unknown;
}

/** A message while it is repaired. */
export interface Turn {
  readonly at: number;
  readonly role: string | undefined;
  readonly message: unknown;
  readonly slots: readonly Slot[];
  /** True once `slots` are no longer what the message holds. */
  readonly isChanged: boolean;
}

/** The messages as turns: parallel calls that came in messages of their own are joined. */
export function toTurns(messages: readonly unknown[], findings: Findings, interrupted: Interrupted): Turn[] {
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
export function toMessages(turns: readonly Turn[]): unknown[] {
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
