import { classify } from '../../policy/failures/classify.ts';
import type { FailureFacts } from '../../policy/failures/failure.ts';
import type { AgentProfile } from '../agents/profile.ts';
import { errorTextIn } from '../agents/profileFailure.ts';
import { type McpAnswer, type McpParams, fieldsOf } from '../mcp/message.ts';
import { endsBadly, looksFailed } from './signs.ts';
import type { AcpTurn } from './turn.ts';

/** Code by which an agent says that somebody has to sign in first (`auth_required` of the protocol). */
const authRequired = -32_000;

/** Facts that one needs to judge the end of a turn. */
interface EndContext {
  readonly turn: AcpTurn;
  readonly wallNow: number;
  /** Facts about the agent. @defaultValue nobody knows it */
  readonly profile?: AgentProfile | undefined;
}

/**
 * Why an agent's answer to `session/prompt` is none; undefined where it is. An error is one, and so is `end_turn` after nothing but an error text: the
 * protocol has no stop reason for a failure, and several agents tell theirs as text (goose 1.52, codex-acp 2.6, Copilot 1.0, gemini 0.61).
 */
export function failureOfPrompt(answer: McpAnswer, context: EndContext): FailureFacts | undefined {
  const { error, result, flaw } = answer;
  if (flaw !== undefined)
    return { kind: 'protocol', message: `The answer is malformed: ${flaw}`, outcome: 'unknown', shouldRetry: false };
  if (error !== undefined) return ownWord(failureOfError(error, context.wallNow), context.turn);
  if (result?.['stopReason'] !== 'end_turn') return undefined;
  const { turn } = context;
  if (turn.isFailed) return failureOfText(turn.lastText ?? 'The agent says that its turn failed', context);
  if (turn.lastText !== undefined && endsBadly(turn.lastText)) return failureOfText(turn.lastText, context);
  const text = turn.onlyText;
  const own =
    context.profile && (errorTextIn(turn.lastText ?? '', context.profile) ?? errorTextIn(text ?? '', context.profile));
  if (own !== undefined) return failureOfText(own, context);
  if (text === undefined || !looksFailed(text)) return undefined;
  const facts = failureOfText(text, context);
  // Somebody may have asked for the text: what names no failure that is known is an answer.
  return facts.kind === 'unknown' ? undefined : facts;
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
  const context = { wallNow, source: 'peer' } as const;
  // claude-agent-acp names the failure of its API beside the general code.
  const named = isText(errorKind) ? classify({ message: told, name: errorKind }, context) : undefined;
  // gemini gives the HTTP status of its API as the code.
  const isStatus = typeof code === 'number' && code >= 400 && code <= 599;
  const coded = { message: told, data, ...(isStatus ? { status: code } : { code }) };
  const found = named === undefined || named.kind === 'unknown' ? classify(coded, context) : named;
  const facts = { ...found, cause: undefined, message: told };
  if (typeof code === 'number') facts.code = code;
  return code === authRequired && facts.kind === 'unknown' ? { ...facts, kind: 'auth' } : facts;
}

function failureOfText(text: string, { wallNow, turn, profile }: EndContext): FailureFacts {
  const facts = classify(new Error(text.trim()), { wallNow, patterns: profile?.kinds });
  return ownWord({ ...facts, cause: undefined }, turn);
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
