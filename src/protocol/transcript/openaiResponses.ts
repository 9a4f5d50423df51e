import { recordIn, textIn } from '../agentReport.ts';
import type { Findings } from './findings.ts';
import type { Interrupted } from './interrupted.ts';
import { type Call, type Entry, pair, type Result } from './pairing.ts';
import { kindOfCall, kindsOfOutput, missingOutput, type ToolKind } from './responsesTools.ts';

type Item = Readonly<Record<string, unknown>>;

interface ItemCall extends Call {
  readonly callId: string;
  readonly kind: ToolKind;
}

/**
 * Repairs items of OpenAI's responses: the output of a call comes after it, before anything that is not the model's own. What
 * needs no change stays the same object.
 * @param isPart - whether items before the first are kept elsewhere (`previous_response_id`), so that an output whose call is not
 * among these may be right.
 */
export function repairOpenAiResponses(
  items: readonly unknown[],
  findings: Findings,
  { sentence, stands }: Interrupted,
  isPart: boolean,
): unknown[] {
  const calls = soundCalls(items, findings);
  const known = new Set(items.flatMap((item) => callKey(item) ?? []));
  const refersElsewhere = isPart || items.some((item) => recordIn(item)?.['type'] === 'item_reference');
  /** Undefined for what is no output, and for one whose call may be elsewhere. */
  const resultAt = (at: number): Result | undefined => {
    const item = recordIn(items[at]);
    const keys = item === undefined ? [] : outputKeys(item);
    if (item === undefined || keys.length === 0) return undefined;
    const id = keys.find((key) => known.has(key));
    if (id === undefined && refersElsewhere) return undefined;
    return { id: id ?? keys[0] ?? '', at, content: item['output'], synthetic: stands(item['output']) };
  };
  const results = items.map((_item, at) => resultAt(at));
  const entries = items.flatMap((_item, at): Entry<ItemCall, Result>[] => {
    const call = calls.get(at);
    if (call !== undefined) return [{ call }];
    const result = results[at];
    return result === undefined ? [] : [{ result }];
  });
  const kept = pair(entries, findings);

  const inPlace = new Set<number>();
  for (const [call, { at }] of kept) if (isInPlace(items, call.at, at)) inPlace.add(at);
  let waiting: unknown[] = [];
  return items.flatMap((item, at): unknown[] => {
    const call = calls.get(at);
    const isDropped = isLostCall(at) || leadsNowhere(at) || (results[at] !== undefined && !inPlace.has(at));
    const self = isDropped ? [] : [item];
    const result = call === undefined ? undefined : kept.get(call);
    if (call !== undefined && (result === undefined || !inPlace.has(result.at))) {
      const { callId, kind, tool } = call;
      if (result === undefined) findings.add({ rule: 'unanswered', at, callId, tool });
      else findings.add({ rule: 'displaced', at: result.at, callId, tool });
      waiting.push(result === undefined ? missingOutput(kind, callId, sentence) : items[result.at]);
    }
    // Answers of parallel calls stand behind the last of them.
    const isGoingOn = (calls.has(at + 1) && results[at] === undefined) || inPlace.has(at + 1);
    if (waiting.length === 0 || isGoingOn) return self;
    const answers = waiting;
    waiting = [];
    return [...self, ...answers];
  });

  function isLostCall(at: number): boolean {
    return callKey(items[at]) !== undefined && !calls.has(at);
  }

  /** Reasoning is refused without the item it led to: where that is dropped, it goes along. */
  function leadsNowhere(at: number): boolean {
    if (!isReasoning(items[at])) return false;
    let next = at + 1;
    while (isReasoning(items[next]) || isLostCall(next)) next++;
    if (!isLostCall(next - 1)) return false;
    return next === items.length || isOfOthers(items[next]) || outputKeys(recordIn(items[next]) ?? {}).length > 0;
  }
}

function isReasoning(item: unknown): boolean {
  return recordIn(item)?.['type'] === 'reasoning';
}

/** The calls by the place of their item, without those that cannot be answered. */
function soundCalls(items: readonly unknown[], findings: Findings): ReadonlyMap<number, ItemCall> {
  const answered = new Set(items.flatMap((item) => outputKeys(recordIn(item) ?? {})));
  const calls = new Map<number, ItemCall>();
  /** Calls that have no output yet. */
  const open = new Set<string>();
  items.forEach((item, at) => {
    if (isOfOthers(item)) open.clear();
    for (const key of outputKeys(recordIn(item) ?? {})) open.delete(key);
    const id = callKey(item);
    const record = recordIn(item);
    const kind = kindOfCall(record?.['type']);
    if (id === undefined || record === undefined || kind === undefined) return;
    const callId = textIn(record['call_id']);
    const tool = textIn(record['name']) ?? kind.call;
    if (open.has(id)) findings.add({ rule: 'repeated_call', at, callId, tool });
    else if (callId === undefined || (record['status'] === 'incomplete' && !answered.has(id))) {
      findings.add({ rule: 'partial_call', at, callId, tool });
    } else {
      open.add(id);
      calls.set(at, { id, callId, at, kind, tool });
    }
  });
  return calls;
}

/** Ids are told apart by the kind of the call. */
function callKey(item: unknown): string | undefined {
  const record = recordIn(item);
  const kind = kindOfCall(record?.['type']);
  return kind === undefined ? undefined : `${kind.call} ${textIn(record?.['call_id']) ?? ''}`;
}

function outputKeys(item: Item): string[] {
  return kindsOfOutput(item['type']).map(
    ({ call }) => `${call} ${textIn(item['call_id']) ?? textIn(item['id']) ?? ''}`,
  );
}

/** Whether it is not the model's own, so that the model's turn ends there. */
function isOfOthers(item: unknown): boolean {
  const role = recordIn(item)?.['role'];
  return typeof role === 'string' && role !== 'assistant';
}

function isInPlace(items: readonly unknown[], call: number, output: number): boolean {
  return output > call && !items.slice(call + 1, output).some(isOfOthers);
}
