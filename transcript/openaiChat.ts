import { recordIn, textIn } from '../src/protocol/face.ts';
import type { Findings } from './findings.ts';
import type { Interrupted } from './interrupted.ts';
import type { OwnIds } from './ownIds.ts';
import { type Call, idIn, joined, parsed, type Result } from './calls.ts';
import { type Entry, pair } from './pairing.ts';

type Message = Readonly<Record<string, unknown>>;

/**
 * Repairs messages of OpenAI's chat completions: the `tool` messages that answer an assistant's `tool_calls` follow it at once,
 * in any order. What needs no change stays the same object.
 */
export function repairOpenAiChat(
  messages: readonly unknown[],
  findings: Findings,
  { sentence, stands }: Interrupted,
): unknown[] {
  const found = messages.map((message, at): readonly Call[] => callsIn(message).map((call) => callAt(call, at)));
  const entries = messages.flatMap((message, at): Entry<Call, Result>[] => {
    if (isResult(message)) return [{ result: resultAt(message, at, stands) }];
    const isNext = (found[at] ?? []).length === 0 || (found[at - 1] ?? []).length === 0;
    return [...(isNext ? [{}] : []), ...(found[at] ?? []).map((call) => ({ call }))];
  });
  const { kept, more, calls: sound, ids } = pair(entries, findings);

  return messages.flatMap((message, at) => {
    if (isResult(message)) return [];
    const rebuilt = withSoundCalls(message, found[at] ?? [], sound, ids);
    return [...(rebuilt === undefined ? [] : [rebuilt]), ...resultsAfter(at)];
  });

  /** The results of the calls of one message, as they follow it. */
  function resultsAfter(at: number): unknown[] {
    const calls = (found[at] ?? []).filter((call) => sound.has(call));
    let end = at + 1;
    while (isResult(messages[end])) end++;
    const places = calls.map((call) => kept.get(call)?.at);
    const isInPlace = (place: number | undefined): place is number => place !== undefined && place > at && place < end;
    // Results that are all there keep their order.
    if (places.every(isInPlace))
      return calls
        .map(answerTo)
        .toSorted((a, b) => a.at - b.at)
        .map(({ message }) => message);
    return calls.map((call, index) => {
      const { tool } = call;
      const id = ids.of(call);
      const place = places[index];
      if (place === undefined) {
        findings.add({ rule: 'unanswered', at, callId: id, tool });
        return { role: 'tool', tool_call_id: id, content: sentence };
      }
      if (!isInPlace(place)) findings.add({ rule: 'displaced', at: place, callId: id, tool });
      return answerTo(call).message;
    });
  }

  /** The result of a call under the id that the call has in the end. */
  function answerTo(call: Call): { readonly at: number; readonly message: unknown } {
    const result = kept.get(call);
    const { at, id: named } = result ?? { at: call.at, id: '' };
    const id = ids.of(call);
    const others = result === undefined ? [] : (more.get(result) ?? []);
    if (named === id && others.length === 0) return { at, message: messages[at] };
    if (named === '') findings.add({ rule: 'ambiguous_id', at, callId: id, tool: call.tool });
    const content = joined(
      result?.content,
      others.map((each) => each.content),
      (text) => ({ type: 'text', text }),
    );
    return { at, message: { ...recordIn(messages[at]), content, tool_call_id: id } };
  }
}

function callAt(call: Message, at: number): Call {
  const input = recordIn(call['function'])?.['arguments'] ?? recordIn(call['custom'])?.['input'];
  return { id: idIn(call['id']), tool: toolOf(call), input: parsed(input), isPartial: isCutOff(call), at };
}

function resultAt(message: Message, at: number, stands: Interrupted['stands']): Result {
  const { content, tool_call_id: id, name } = message;
  return { id: idIn(id), tool: textIn(name), at, content, synthetic: stands(content) };
}

function isResult(message: unknown): message is Message {
  return recordIn(message)?.['role'] === 'tool';
}

function callsIn(message: unknown): readonly Message[] {
  const record = recordIn(message);
  const calls = record?.['role'] === 'assistant' ? record['tool_calls'] : undefined;
  return Array.isArray(calls) ? calls.map((call) => recordIn(call) ?? {}) : [];
}

/** The message without calls that cannot be answered; undefined when nothing is left of it. */
function withSoundCalls(message: unknown, calls: readonly Call[], kept: ReadonlySet<Call>, ids: OwnIds): unknown {
  if (calls.every((call) => kept.has(call) && !ids.isNew(call))) return message;
  const given = callsIn(message);
  const sound = calls.flatMap((call, index) => {
    if (!kept.has(call)) return [];
    return [ids.isNew(call) ? { ...given[index], id: ids.of(call) } : given[index]];
  });
  const { tool_calls: _dropped, ...rest } = recordIn(message) ?? {};
  if (sound.length > 0) return { ...rest, tool_calls: sound };
  return rest['content'] === null || rest['content'] === undefined || rest['content'] === '' ? undefined : rest;
}

/** Arguments are a JSON text; one that ends too early is of an answer that was cut off. */
function isCutOff(call: Message): boolean {
  const text = recordIn(call['function'])?.['arguments'];
  return typeof text === 'string' && text.trim() !== '' && parsed(text) === text;
}

function toolOf(call: Message): string | undefined {
  return textIn((recordIn(call['function']) ?? recordIn(call['custom']))?.['name']);
}
