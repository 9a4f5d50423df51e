import { isTimeoutReason } from '../../src/policy/failures/face.ts';

/** Reason of a cancel as clients write it, and what it stands for: a limit of theirs, a person, or either. */
interface CancelReason {
  /** With the newest version that was run, behind a server that is slower than it waits. */
  readonly by: string;
  readonly reason: RegExp;
  readonly means: 'limit' | 'person' | 'either';
  /** A client may say it of a call whose answer it has taken: SDK 1.32.2 listens to a signal of a call for ever. */
  readonly isLoose?: true;
}

/** Reasons that were seen. A person who has no words of theirs is not told of at all: Gemini CLI 0.61.0 lets the call go on. */
const cancelReasons: readonly CancelReason[] = [
  {
    by: 'TypeScript SDK 1.32.2, Gemini CLI 0.61.0, opencode 1.18.33',
    reason: /^McpError: MCP error -32001: (Request timed out|Maximum total timeout exceeded)$/,
    means: 'limit',
  },
  {
    by: 'TypeScript SDK 2.4.0, Claude Code 2.1.318',
    reason: /^SdkError: (Request timed out|Maximum total timeout exceeded)$/,
    means: 'limit',
  },
  { by: 'AbortSignal.timeout', reason: /^TimeoutError: /, means: 'limit', isLoose: true },
  { by: 'Python SDK 2.3.0', reason: /^timed out after [\d.]+s$/, means: 'limit' },
  { by: 'goose 1.52.0', reason: /^timed out$/, means: 'limit' },
  { by: 'GitHub Copilot CLI 1.0.102', reason: /^request timeout$/, means: 'limit' },
  { by: 'TypeScript SDKs, Claude Code, opencode', reason: /^AbortError: /, means: 'person' },
  { by: 'Python SDK 2.3.0', reason: /^caller cancelled$/, means: 'person' },
  { by: 'goose 1.52.0', reason: /^operation cancelled$/, means: 'person' },
  { by: 'GitHub Copilot CLI 1.0.102', reason: /^request cancelled$/, means: 'person' },
  { by: 'Codex 0.166.0', reason: /^MCP response future dropped$/, means: 'either' },
];

/** Time in ms by which a cancel may be read before and after a limit of whole seconds, for that to have been it: Codex takes 1 or 2 ms. */
const slackMs = { before: 10, after: 50 };

/**
 * Tells whether a client has cancelled as a limit of its own passed: then the work is still wanted. Where its words are the same for a person, a limit is what
 * falls on a whole second.
 * @param afterMs - since the client sent the request.
 * @param isAnswered - it was answered: then only words count that are known to be said of what is awaited still.
 */
export function isClientLimit(reason: unknown, afterMs: number, isAnswered = false): boolean {
  if (typeof reason !== 'string') return false;
  const known = cancelReasons.find((each) => each.reason.test(reason));
  if (isAnswered && (known === undefined || known.isLoose === true)) return false;
  const means = known?.means;
  if (means === 'either') {
    const atMs = afterMs + slackMs.before;
    return atMs >= 1000 && atMs % 1000 <= slackMs.before + slackMs.after;
  }
  return means === undefined ? isTimeoutReason(reason) : means === 'limit';
}
