import { classify } from '../policy/failures/classify.ts';
import type { FailureFacts } from '../policy/failures/failure.ts';
import type { HeardCalls } from '../policy/spinning/heardCalls.ts';
import type { AgentCommand } from './agentCommand.ts';
import {
  type AgentEffects,
  type AgentReader,
  type AgentReport,
  type AgentSign,
  answer,
  CallCount,
  messageIn,
  recordIn,
  textIn,
  usageOf,
} from './agentReport.ts';
import { createProfileReader } from './agents/profileReader.ts';
import { profileOf } from './agents/profiles.ts';
import { hearCodexItem } from './codexCalls.ts';
import { createClaudeReader } from './claudeOutput.ts';
import { createLineSplitter } from './lines.ts';

/** Longest line that is read, in bytes: an answer with all that led to it may be one. */
const longestLineBytes = 16 * 1024 * 1024;
/** Above this, in characters, only what ends a run is worth parsing: results of tools can be as long as their files. */
const longestCheapLine = 256 * 1024;

/** The stdout of one agent's run, as it comes. Memory is bounded by the longest line. */
export interface AgentStream {
  push(chunk: Uint8Array): void;
  /** The stream has ended: what is left is its last line. @param isCut - whether it was given up before its end. @defaultValue false */
  end(isCut?: boolean): void;
  report(wallNow: number): AgentReport;
  /** True once a line was too long to be read. */
  readonly missed: boolean;
}

/**
 * Reads the output of an agent; of plain text it tells nothing but whose it is.
 * @param retriesItself - whether the agent may repeat a failed request by itself, where that is known.
 * @param ear - told of the calls of its tools, as they are told of.
 * @param heard - told of the liveness of each message of a stream, once it is whole: half a line is none. Must not throw.
 */
export function createAgentStream(
  command: AgentCommand,
  retriesItself?: boolean,
  heard?: (sign: AgentSign) => void,
  ear?: HeardCalls,
): AgentStream {
  const { agent, format } = command;
  if (format === 'text') return silentStream({ agent, effects: 'unknown', concluded: false });
  const reader = readerOf(command, retriesItself, ear);
  if (reader === undefined) return silentStream({ agent, effects: 'unknown', concluded: false });
  // Nobody but the user knows which message of an agent of their own may be long.
  const isRead = format === 'json' || command.profile !== undefined;
  let missed = false;
  /** A line that was not read may have told of an act. The long lines of Claude that are passed over are answers to what it asked for. */
  let unread = false;
  const splitter = createLineSplitter({
    maxBytes: longestLineBytes,
    onLine(line) {
      let sign: AgentSign = 'progress';
      if (isRead || line.length <= longestCheapLine || ends(line)) sign = reader.line(line);
      else if (agent !== 'claude') unread = true;
      heard?.(sign);
    },
    onTooLong() {
      missed = true;
      unread = true;
    },
  });
  return {
    push: (chunk) => splitter.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)),
    end(isCut = false) {
      splitter.end();
      unread ||= isCut;
    },
    report(wallNow) {
      const report = reader.report(wallNow);
      return unread && report.effects === 'none' ? { ...report, effects: 'possible' } : report;
    },
    get missed() {
      return missed;
    },
  };
}

/** Returns the reader of an output; undefined where that tells nothing. */
function readerOf(
  command: AgentCommand,
  retriesItself: boolean | undefined,
  ear: HeardCalls | undefined,
): AgentReader | undefined {
  const { agent, format } = command;
  const profile = profileOf(command);
  const isWhole = format === 'json';
  if (profile.output === 'claude') return createClaudeReader({ isStream: !isWhole, retriesItself, ear });
  if (profile.output === 'codex') return createCodexReader(retriesItself, ear);
  const messages = isWhole ? profile.output.json : profile.output.stream;
  return messages && createProfileReader({ agent, profile, messages, isWhole, retriesItself, ear });
}

/** Text that a model or a tool wrote has its quotes escaped, so this is the message's own. */
const ends = (line: string): boolean =>
  /"type":"(?:result|agent_message|turn\.[a-z]+|assistant(?:\.message)?|message|text)"/.test(line);

function silentStream(report: AgentReport): AgentStream {
  return { push: () => undefined, end: () => undefined, report: () => report, missed: false };
}

/** Items that act; messages, reasoning, plans and searches do not, and an item of type `error` is a warning. */
const acting: ReadonlySet<string> = new Set([
  'collab_tool_call',
  'command_execution',
  'dynamic_tool_call',
  'file_change',
  'mcp_tool_call',
]);
/** Items that are calls of tools. */
const tools: ReadonlySet<string> = new Set([...acting, 'web_search']);

/** Beginning of Codex's notice that it asks again, whatever failed. */
const asksAgain = /^Reconnecting\.\.\. /;

/**
 * Reads what `codex exec --json` prints, an event a line. The last event that ends a turn decides: some releases exit with 0 after a
 * failed turn. A run may hold the same answer once for each of Codex's own attempts; the last one counts.
 * @param retriesItself - whether Codex may repeat a failed request by itself, where that is known. We do not try again what Codex has
 * repeated in vain: its attempts would be multiplied by ours.
 */
export function createCodexReader(retriesItself?: boolean, ear?: HeardCalls): AgentReader {
  let sessionId: string | undefined;
  let text: string | undefined;
  const asked = new CallCount();
  let effects: AgentEffects = 'none';
  let ended: 'completed' | 'failed' | undefined;
  let error: string | undefined;
  let askedAgain = false;
  /** The notice of a retry after which nothing came yet. */
  let notice: string | undefined;

  const failureOf = (wallNow: number): FailureFacts => {
    const facts = classify(new Error(error ?? 'Codex says that its turn failed'), { wallNow });
    // Nothing tells whether the API asked for a second or for an hour.
    const isUntold = facts.kind === 'rate_limit' && facts.retryAfterMs === undefined;
    const isOwned =
      askedAgain || isUntold || (retriesItself === true && (facts.kind === 'transient' || facts.kind === 'overloaded'));
    return { ...facts, cause: undefined, ...(isOwned && { shouldRetry: false }) };
  };

  return {
    line(line) {
      const event = messageIn(line);
      if (event !== undefined) notice = undefined;
      switch (event?.['type']) {
        case 'thread.started':
          sessionId = textIn(event['thread_id']) ?? sessionId;
          break;
        case 'turn.started':
          ended = undefined;
          error = undefined;
          askedAgain = false;
          break;
        case 'item.started':
        case 'item.updated':
        case 'item.completed': {
          const item = recordIn(event['item']);
          const type = textIn(item?.['type']) ?? textIn(item?.['item_type']) ?? '';
          if (item !== undefined && ear !== undefined) hearCodexItem(item, event['type'] === 'item.completed', ear);
          if (tools.has(type)) asked.take(item?.['id']);
          if (acting.has(type) && item?.['status'] !== 'declined') effects = 'possible';
          if (type === 'agent_message' || type === 'assistant_message') text = textIn(item?.['text']) ?? text;
          break;
        }
        case 'turn.completed':
          ended = 'completed';
          ear?.used(usageOf(event['usage']));
          break;
        case 'turn.failed':
          ended = 'failed';
          error = textIn(recordIn(event['error'])?.['message']) ?? textIn(event['error']) ?? error;
          break;
        case 'error':
          // Before the end of the turn it is a notice of a retry; what ends the turn says whether it was more.
          error = textIn(event['message']) ?? error;
          if (asksAgain.test(error ?? '')) {
            askedAgain = true;
            notice = error;
          }
          return 'traffic';
      }
      return event === undefined ? 'traffic' : 'progress';
    },
    report(wallNow) {
      const failure = ended === 'failed' ? failureOf(wallNow) : ended === undefined ? undefined : emptiness(text);
      return {
        agent: 'codex',
        text: failure === undefined && ended === 'completed' && text !== undefined ? answer(text) : undefined,
        sessionId,
        effects,
        calls: { tools: asked.count },
        concluded: ended !== undefined,
        // A run that ends without a turn's end says why in its last error.
        failure: failure ?? (ended === undefined && error !== undefined ? failureOf(wallNow) : undefined),
        waiting: notice === undefined ? undefined : { ...classify(new Error(notice), { wallNow }), cause: undefined },
      };
    },
  };
}

function emptiness(text: string | undefined): FailureFacts | undefined {
  if (text !== undefined) return undefined;
  return { kind: 'unknown', reason: 'empty_response', message: 'Codex gave an empty answer', outcome: 'failed' };
}
