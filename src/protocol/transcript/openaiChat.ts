import { recordIn, textIn } from '../agentReport.ts';
import type { Findings } from './findings.ts';
import type { Interrupted } from './interrupted.ts';
import { type Call, type Entry, pair, type Result } from './pairing.ts';

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
  const answered = new Set(messages.filter(isResult).map((message) => message['tool_call_id']));
  const rebuilt = messages.map((message, at) => withSoundCalls(message, at, answered, findings));
  const callsOf = rebuilt.map((message, at): readonly Call[] =>
    callsIn(message).map((call) => ({ id: textIn(call['id']) ?? '', tool: toolOf(call), at })),
  );
  const entries = messages.flatMap((message, at): Entry<Call, Result>[] => {
    if (!isResult(message)) return (callsOf[at] ?? []).map((call) => ({ call }));
    const content = message['content'];
    return [{ result: { id: textIn(message['tool_call_id']) ?? '', at, content, synthetic: stands(content) } }];
  });
  const kept = pair(entries, findings);

  return rebuilt.flatMap((message, at) =>
    isResult(message) ? [] : [...(message === undefined ? [] : [message]), ...resultsAfter(at)],
  );

  /** The results of the calls of one message, as they follow it. */
  function resultsAfter(at: number): unknown[] {
    const calls = callsOf[at] ?? [];
    let end = at + 1;
    while (isResult(messages[end])) end++;
    const places = calls.map((call) => kept.get(call)?.at);
    const isInPlace = (place: number | undefined): place is number => place !== undefined && place > at && place < end;
    // Results that are all there keep their order.
    if (places.every(isInPlace)) return places.sort((a, b) => a - b).map((place) => messages[place]);
    return calls.map(({ id, tool }, index) => {
      const place = places[index];
      if (place === undefined) {
        findings.add({ rule: 'unanswered', at, callId: id, tool });
        return { role: 'tool', tool_call_id: id, content: sentence };
      }
      if (!isInPlace(place)) findings.add({ rule: 'displaced', at: place, callId: id, tool });
      return messages[place];
    });
  }
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
function withSoundCalls(message: unknown, at: number, answered: ReadonlySet<unknown>, findings: Findings): unknown {
  const calls = callsIn(message);
  const seen = new Set<string>();
  const sound = calls.filter((call) => {
    const callId = textIn(call['id']);
    const isRepeated = callId !== undefined && seen.has(callId);
    if (callId !== undefined && !isRepeated && (answered.has(callId) || !isCutOff(call))) {
      seen.add(callId);
      return true;
    }
    findings.add({ rule: isRepeated ? 'repeated_call' : 'partial_call', at, callId, tool: toolOf(call) });
    return false;
  });
  if (sound.length === calls.length) return message;
  const { tool_calls: _dropped, ...rest } = recordIn(message) ?? {};
  if (sound.length > 0) return { ...rest, tool_calls: sound };
  return rest['content'] === null || rest['content'] === undefined || rest['content'] === '' ? undefined : rest;
}

/** Arguments are a JSON text; one that ends too early is of an answer that was cut off. */
function isCutOff(call: Message): boolean {
  const text = recordIn(call['function'])?.['arguments'];
  if (typeof text !== 'string' || text.trim() === '') return false;
  try {
    JSON.parse(text);
    return false;
  } catch {
    return true;
  }
}

function toolOf(call: Message): string | undefined {
  return textIn((recordIn(call['function']) ?? recordIn(call['custom']))?.['name']);
}
