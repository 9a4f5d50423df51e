import { recordIn, textIn } from '../src/protocol/face.ts';
import type { Findings } from './findings.ts';
import type { Interrupted } from './interrupted.ts';
import { type Call, idIn, joined, parsed, type Result } from './calls.ts';
import { type Entry, pair } from './pairing.ts';
import { kindOfCall, kindsOfOutput, missingOutput, type ToolKind } from './responsesTools.ts';

type Item = Readonly<Record<string, unknown>>;

interface ItemCall extends Call {
  readonly key: string;
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
  const found = items.map(callAt);
  const known = new Set(items.flatMap((item) => callKey(item) ?? []));
  const refersElsewhere = isPart || items.some((item) => recordIn(item)?.['type'] === 'item_reference');
  /** Undefined for what is no output, and for one whose call may be elsewhere. */
  const resultAt = (at: number): Result | undefined => {
    const item = recordIn(items[at]);
    const keys = item === undefined ? [] : outputKeys(item);
    if (item === undefined || keys.length === 0) return undefined;
    const id = keys.find((key) => known.has(key));
    if (id === undefined && refersElsewhere) return undefined;
    const key = id ?? keys[0] ?? '';
    return {
      id: idIn(item['call_id'] ?? item['id']),
      key,
      at,
      content: item['output'],
      synthetic: stands(item['output']),
      fits: ({ key: called }) =>
        kindsOfOutput(item['type']).some(({ call }) => called?.startsWith(`${call} `) === true),
    };
  };
  const results = items.map((_item, at) => resultAt(at));
  const entries = items.flatMap((item, at): Entry<ItemCall, Result>[] => {
    const call = found[at];
    const result = results[at];
    if (call !== undefined) return [{ call }];
    if (result !== undefined) return [{ result }];
    return isOfOthers(item) ? [{}] : [];
  });
  const { kept, more, calls: sound, ids } = pair(entries, findings);
  const calls = new Map([...sound].map((call) => [call.at, call]));
  const inPlace = new Set<number>();
  for (const [call, { at }] of kept) if (isInPlace(items, call.at, at)) inPlace.add(at);
  tellOpenApart();
  const callOf = new Map([...kept].map(([call, { at }]) => [at, call]));

  let waiting: unknown[] = [];
  return items.flatMap((item, at): unknown[] => {
    const call = calls.get(at);
    const isDropped = isLostCall(at) || leadsNowhere(at) || (results[at] !== undefined && !inPlace.has(at));
    const self = isDropped ? [] : [named(item, at)];
    const result = call === undefined ? undefined : kept.get(call);
    if (call !== undefined && (result === undefined || !inPlace.has(result.at))) {
      const { kind, tool } = call;
      const callId = ids.of(call);
      if (result === undefined) findings.add({ rule: 'unanswered', at, callId, tool });
      else findings.add({ rule: 'displaced', at: result.at, callId, tool });
      waiting.push(result === undefined ? missingOutput(kind, callId, sentence) : named(items[result.at], result.at));
    }
    // Answers of parallel calls stand behind the last of them.
    if (waiting.length === 0 || isGoingOn(at)) return self;
    const answers = waiting;
    waiting = [];
    return [...self, ...answers];
  });

  function isGoingOn(at: number): boolean {
    return (calls.has(at + 1) && results[at] === undefined) || inPlace.has(at + 1);
  }

  /** Gives a call that begins while another one under its id still waits for its output an id of its own. */
  function tellOpenApart(): void {
    const open = new Map<string, { readonly call: ItemCall; readonly until: number }>();
    for (const call of calls.values()) {
      if (ids.isNew(call)) continue;
      const before = open.get(call.key);
      if (before !== undefined && call.at < before.until) {
        ids.tellApart([before.call, call]);
        continue;
      }
      const place = kept.get(call)?.at;
      let until = place !== undefined && inPlace.has(place) ? place : call.at;
      if (until === call.at) while (isGoingOn(until)) until++;
      open.set(call.key, { call, until });
    }
  }

  /** The item under the id that its call has in the end. */
  function named(item: unknown, at: number): unknown {
    const call = calls.get(at) ?? callOf.get(at);
    if (call === undefined) return item;
    const id = ids.of(call);
    const result = calls.has(at) ? undefined : results[at];
    if (result === undefined) return ids.isNew(call) ? { ...recordIn(item), call_id: id } : item;
    const others = more.get(result) ?? [];
    if (result.id === id && others.length === 0) return item;
    if (result.id === '') findings.add({ rule: 'ambiguous_id', at, callId: id, tool: call.tool });
    const own = { ...recordIn(item), call_id: id };
    if (others.length === 0) return own;
    const said = others.map((each) => each.content);
    return { ...own, output: joined(result.content, said, (text) => ({ type: 'input_text', text })) };
  }

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

function callAt(item: unknown, at: number): ItemCall | undefined {
  const record = recordIn(item);
  const kind = kindOfCall(record?.['type']);
  const key = callKey(item);
  if (record === undefined || kind === undefined || key === undefined) return undefined;
  const { call_id: id, name, status, arguments: args, input, action, operation } = record;
  const asked = { args: parsed(args), input, action, operation };
  return {
    id: idIn(id),
    key,
    at,
    kind,
    tool: textIn(name) ?? kind.call,
    input: asked,
    isPartial: status === 'incomplete',
  };
}

/** Ids are told apart by the kind of the call. */
function callKey(item: unknown): string | undefined {
  const record = recordIn(item);
  const kind = kindOfCall(record?.['type']);
  return kind === undefined ? undefined : `${kind.call} ${idIn(record?.['call_id'])}`;
}

function outputKeys(item: Item): string[] {
  return kindsOfOutput(item['type']).map(({ call }) => `${call} ${idIn(item['call_id'] ?? item['id'])}`);
}

/** Tells whether it is not the model's own, so that the model's turn ends there. */
function isOfOthers(item: unknown): boolean {
  const { role, type } = recordIn(item) ?? {};
  return typeof role === 'string' && role !== 'assistant' && kindOfCall(type) === undefined;
}

function isInPlace(items: readonly unknown[], call: number, output: number): boolean {
  return output > call && !items.slice(call + 1, output).some(isOfOthers);
}
