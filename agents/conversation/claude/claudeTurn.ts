import { exitFacts } from '../../../src/actors/process/face.ts';
import { AttemptError, type FailureFacts, classify, readString } from '../../../src/policy/failures/face.ts';
import type { Random } from '../../../src/policy/face.ts';
import { type AgentTrail, recordIn } from '../../../src/protocol/face.ts';
import type { SdkMessage, SdkUserMessage } from './agentSdkTypes.ts';
import type { ToldSoFar, TurnOptions } from '../agentBackend.ts';
import type { AgentUsage } from '../agentTypes.ts';
import type { ClaudeLink, LinkEnd } from './claudeLink.ts';

/** Trail that the attempts of a turn leave to the next one. */
export interface TurnTrail {
  readonly attempts: AgentTrail;
  /** The query that has heard the prompt and told how it ended: its history has the prompt. */
  heardBy: ClaudeLink | undefined;
  /** Why the last attempt failed. */
  lastFailure: string | undefined;
  readonly told: ToldSoFar | undefined;
  readonly ear: TurnOptions['ear'];
}

/** A prompt as the SDK takes it. */
export function userMessage(prompt: string, random: Random): SdkUserMessage {
  return {
    type: 'user',
    message: { role: 'user', content: prompt },
    parent_tool_use_id: null,
    uuid: uuid(random),
  };
}

function uuid(random: Random): SdkUserMessage['uuid'] {
  const hex = (digits: number): string =>
    Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`;
}

/** Tells whether a result is that of our prompt, and not of a turn that a background task of Claude's began. */
export function answersPrompt(result: SdkMessage, { uuid: ours }: SdkUserMessage): boolean {
  const { user_message_uuid: last, user_message_uuids: all } = result;
  const named = [last, ...(Array.isArray(all) ? (all as readonly unknown[]) : [])].filter((each) => each !== undefined);
  if (named.length > 0) return named.includes(ours);
  const origin = recordIn(result['origin'])?.['kind'];
  return origin === undefined || origin === 'human';
}

/** Tokens of the turn, as its result tells. */
export function usageIn(result: SdkMessage): AgentUsage | undefined {
  const usage = recordIn(result['usage']);
  const { input_tokens: inputTokens, output_tokens: outputTokens } = usage ?? {};
  if (typeof inputTokens !== 'number' || typeof outputTokens !== 'number') return undefined;
  return { inputTokens, outputTokens };
}

/** Why there is no result, when the query gives no more messages. */
export function lossFacts({ error, exit }: LinkEnd, wallNow: number): FailureFacts {
  if (error instanceof AttemptError) return error.facts;
  const told = exit === undefined ? undefined : exitFacts(exit, { tellers: new Set(['agent']) });
  if (told !== undefined && told.kind !== 'cancelled') return told;
  if (error !== undefined && told === undefined) return { ...classify(asExit(error), { wallNow }), cause: error };
  return { kind: 'protocol', message: 'Claude ended without a result', outcome: 'unknown' };
}

/** Turns the SDK's words of a process into facts: a start that failed, an exit that was not the runtime's to see. */
function asExit(error: unknown): unknown {
  const message = readString(error, 'message') ?? '';
  const code = readString(error, 'code');
  if (code === 'ENOENT' || code === 'EACCES') return Object.assign(new Error(message), { code, syscall: 'spawn' });
  const [, signal, exitCode] =
    /process (?:terminated by signal (SIG[A-Z]+)|exited with code (\d+))/.exec(message) ?? [];
  if (signal === undefined && exitCode === undefined) return error;
  const ended = { command: 'claude', signal, exitCode: exitCode === undefined ? undefined : Number(exitCode) };
  return Object.assign(new Error(message), ended);
}
