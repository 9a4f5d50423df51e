import { classify } from '../../policy/failures/classify.ts';
import type { FailureFacts } from '../../policy/failures/failure.ts';
import { type McpAnswer, type McpParams, fieldsOf } from '../mcp/message.ts';
import type { AcpTurn } from './turn.ts';

/** Code by which an agent says that somebody has to sign in first (`auth_required` of the protocol). */
const authRequired = -32_000;

/**
 * Texts with which an answer begins that is an error and nothing else, whatever agent says it: goose ("Ran into this error: …"), Copilot ("Error: …",
 * "Info: … Retrying" before it), codex-acp. Judged only where the text is all that the turn told, and says which kind of failure it is.
 */
const errorTexts =
  /^\s*(?:(?:Info|Warning): [^\n]*\n+)*(?:[\w-]{1,30} )?(?:API )?(?:Error|error|ERROR)\b|^\s*Ran into this error\b|^\s*(?:Network error|The model returned an empty response)\b/;

/** Facts that one needs to judge the end of a turn. */
interface EndContext {
  readonly turn: AcpTurn;
  readonly wallNow: number;
  /** Error texts of this agent, beside those of all: what begins so, alone in a turn, is a failure. @defaultValue none */
  readonly failedTexts?: readonly RegExp[] | undefined;
}

/**
 * Why an agent's answer to `session/prompt` is none; undefined where it is. An error is one, and so is `end_turn` after nothing but an error text: the
 * protocol has no stop reason for a failure, and several agents tell theirs as text (goose 1.52, codex-acp 2.6, Copilot 1.0, gemini 0.61).
 */
export function failureOfPrompt(answer: McpAnswer, context: EndContext): FailureFacts | undefined {
  const { error, result, flaw } = answer;
  if (flaw !== undefined)
    return { kind: 'protocol', message: `The answer is malformed: ${flaw}`, outcome: outcomeOf(context.turn) };
  if (error !== undefined) return ownWord(failureOfError(error, context.wallNow), context.turn);
  if (result?.['stopReason'] !== 'end_turn') return undefined;
  const text = context.turn.onlyText;
  return text === undefined ? undefined : failureOfText(text, context);
}

/** The agent has repeated what it repeats itself, and its session has the prompt: it is not sent again. */
const ownWord = (facts: FailureFacts, turn: AcpTurn): FailureFacts => ({
  ...facts,
  outcome: outcomeOf(turn),
  shouldRetry: false,
});

/** What is known of a turn that failed: its tools did what they did. */
const outcomeOf = (turn: AcpTurn): FailureFacts['outcome'] => (turn.deeds === '' ? 'failed' : 'unknown');

function failureOfError(error: McpParams, wallNow: number): FailureFacts {
  const { code, message, data } = error;
  const text = typeof message === 'string' ? message : 'The agent answered with an error';
  const { details, errorKind } = fieldsOf(data);
  const told = typeof details === 'string' && details !== '' && !text.includes(details) ? `${text}: ${details}` : text;
  // gemini gives the HTTP status of its API as the code.
  const isStatus = typeof code === 'number' && code >= 400 && code <= 599;
  const found = classify(
    { message: told, data, ...(isStatus ? { status: code } : { code }), ...(isText(errorKind) && { name: errorKind }) },
    { wallNow, source: 'peer' },
  );
  const facts = { ...found, cause: undefined, message: told };
  if (typeof code === 'number') facts.code = code;
  return code === authRequired && facts.kind === 'unknown' ? { ...facts, kind: 'auth' } : facts;
}

function failureOfText(text: string, { wallNow, failedTexts = [], turn }: EndContext): FailureFacts | undefined {
  const isOwn = failedTexts.some((pattern) => pattern.test(text));
  if (!isOwn && !errorTexts.test(text)) return undefined;
  const facts = classify(new Error(text.trim()), { wallNow });
  // Somebody may have asked for the text: what names no failure that is known is an answer.
  if (facts.kind === 'unknown' && !isOwn) return undefined;
  return ownWord({ ...facts, cause: undefined }, turn);
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
