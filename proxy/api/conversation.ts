import { read, readString } from '../../src/policy/failures/face.ts';
import { parsedJson } from '../../src/policy/text/face.ts';
import type { SeenAnswer } from '../../src/policy/spinning/face.ts';
import { judgedAnswer, saidText } from './saidFailure.ts';

/** Call of a tool with its answer; `id`: that of the API, which of Gemini may be none but the name of the tool. */
export interface AnsweredCall {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
  readonly answer: SeenAnswer;
}

/** Step of a conversation: something of the model's, an answer to a call of it, or a message of a person. */
export type ConversationStep = 'model' | 'person' | AnsweredCall;

/** Keys of which each request that has the answer of a tool has one: within a text their quotes would be escaped. */
const answerKeys = ['"tool_use_id"', '"tool_call_id"', '_call_output"', '"functionResponse"'];

/** Tells whether the body of a request can hold the answer of a tool. Takes 0.3 ms for 1 MB. */
export const hasAnswers = (body: Buffer): boolean => answerKeys.some((key) => body.includes(key));

/** Messages that programs add in the name of a person. */
const added = /^\s*<(?:system-reminder|environment_context|user_instructions|turn_aborted|subagent_notification)\b/;

/** Messages, or items, of a request, and the member that holds them. */
export function messagesIn(body: unknown): { readonly key: string; readonly messages: readonly unknown[] } {
  const key = ['messages', 'input', 'contents'].find((name) => read(body, name) !== undefined) ?? 'messages';
  return { key, messages: listOf(read(body, key)) };
}

/** Messages that are read of a request, the last ones. */
const mostMessages = 240;

/** Reads the end of a conversation: messages, chat completions, responses, or Gemini's contents. What is none of these gives no step. */
export function conversationIn(messages: readonly unknown[]): readonly ConversationStep[] {
  const calls = new Map<string, Pick<AnsweredCall, 'tool' | 'input'>>();
  const steps: ConversationStep[] = [];
  for (const message of messages.slice(-mostMessages)) {
    const role = readString(message, 'role');
    let isPersons = role === 'user';
    if (role === 'assistant' || role === 'model') steps.push('model');
    const parts = ['content', 'parts', 'tool_calls'].flatMap((key) => listOf(read(message, key)));
    for (const part of role === 'tool' || parts.length === 0 ? [message] : parts) {
      const call = callIn(part);
      if (call !== undefined) calls.set(call.id, call);
      if (call !== undefined && role === undefined) steps.push('model');
      const { id, answer } = answerIn(part) ?? {};
      const answered = id === undefined ? undefined : calls.get(id);
      if (id !== undefined) isPersons = false;
      if (id !== undefined && answer && answered) steps.push({ ...answered, id, answer });
    }
    const words = parts.length > 0 ? parts : [read(message, 'content')];
    if (isPersons && !words.every((each) => added.test(saidText(each) ?? ''))) steps.push('person');
  }
  return steps;
}

/** The call that a part of a message is. */
function callIn(part: unknown): Omit<AnsweredCall, 'answer'> | undefined {
  const type = readString(part, 'type');
  if (type === 'text') return undefined;
  const of = read(part, 'functionCall') ?? read(part, 'function') ?? part;
  const isItem = type?.endsWith('_call') === true;
  if (of === part && type !== 'tool_use' && !isItem) return undefined;
  const name = readString(of, 'name') ?? (isItem ? type : '');
  const tool = [readString(part, 'namespace') ?? [], name].flat().join('__');
  const given = ['arguments', 'args', 'input', 'action'].map((key) => read(of, key)).find((each) => each !== undefined);
  const input = typeof given === 'string' ? (parsedJson(given) ?? given) : given;
  const id = readString(part, 'call_id') ?? readString(of, 'id') ?? readString(part, 'id') ?? tool;
  return { id, tool, input };
}

/** The answer that a part of a message is. */
function answerIn(part: unknown): Pick<AnsweredCall, 'id' | 'answer'> | undefined {
  const type = readString(part, 'type');
  const isResult = type === 'tool_result';
  const failed = isResult ? read(part, 'is_error') === true : undefined;
  const response = read(part, 'functionResponse');
  const id =
    (type?.endsWith('_call_output') === true ? readString(part, 'call_id') : undefined) ??
    readString(part, isResult ? 'tool_use_id' : 'tool_call_id') ??
    readString(response, 'id') ??
    readString(response, 'name');
  if (id === undefined) return undefined;
  const said = read(response, 'response');
  const error = read(said, 'error');
  if (error) return { id, answer: judgedAnswer(error, true) };
  return {
    id,
    answer: judgedAnswer(read(part, 'content') ?? read(part, 'output') ?? read(said, 'output') ?? said, failed),
  };
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
