import { parsedJson } from '../policy/text/parsedJson.ts';
import { classify } from '../policy/failures/classify.ts';
import type { HeardCalls } from '../policy/spinning/heardCalls.ts';
import { longestMessage } from '../policy/failures/errorChain.ts';
import type { FailureFacts } from '../policy/failures/failure.ts';
import { clampHint } from '../policy/failures/hints.ts';
import { type AgentReader, answer, CallCount, messageIn, recordIn, textIn, usageOf } from './agentReport.ts';
import { ClaudeAnswer } from './claudeAnswer.ts';
import { ClaudeRetries } from './claudeRetries.ts';
import { claudeSign, losesSession } from './claudeSigns.ts';
import { ToolUses } from './claudeTools.ts';

type Message = Readonly<Record<string, unknown>>;

/** Takes lines, or the messages that were in them. */
interface ClaudeReader extends AgentReader {
  take(message: Message): void;
}

/** Facts known of a run of Claude before it prints anything. */
interface ClaudeReaderOptions {
  /** True where it tells all that it does, as it does it: one that has said nothing has then done nothing. @defaultValue told by its first message */
  readonly isStream?: boolean | undefined;
  /** True where Claude may repeat a failed request by itself. @defaultValue not known */
  readonly retriesItself?: boolean | undefined;
  /** Told of the calls of its tools, and of the answers. @defaultValue nobody is */
  readonly ear?: HeardCalls | undefined;
}

/**
 * Reads what `claude -p` prints with `--output-format json` (one result, or with `--verbose` an array of all messages) or
 * `stream-json` (a message a line). Judged by the last result: `subtype` is `success` for failures of the API too, the exit code
 * 0 for an interrupted run.
 */
export function createClaudeReader(options: ClaudeReaderOptions = {}): ClaudeReader {
  const tools = new ToolUses(options.ear);
  const retries = new ClaudeRetries();
  const answers = new ClaudeAnswer();
  const model = new CallCount();
  let { isStream = false } = options;
  let sessionId: string | undefined;
  let result: Message | undefined;
  /** Time when a limit of the account resets, in s since the epoch. */
  let resetsAt: number | undefined;
  let block: string | undefined;
  let isLost = false;
  /** It asks a person, and goes on when that is answered. */
  let asksPerson = false;

  let [by, written] = [undefined as string | undefined, 0];
  /** @param isTold - all but what a message does not know as it begins: how much it will write. */
  const use = (usage: ReturnType<typeof usageOf>, isTold = false): void => {
    const outputTokens = Math.max(0, usage.outputTokens - (isTold ? written : 0));
    options.ear?.used(isTold ? { model: by, outputTokens } : usage);
    [by, written] = [usage.model, written + outputTokens];
  };

  const take = (message: Message): void => {
    sessionId = sessionOf(message) ?? sessionId;
    answers.take(message);
    switch (message['type']) {
      case 'system':
        isStream = true;
        if (message['subtype'] === 'permission_denied') tools.notRun(message['tool_use_id']);
        if (message['subtype'] === 'task_started') tools.began(message['tool_use_id']);
        if (message['subtype'] === 'init') retries.began(message);
        if (message['subtype'] === 'api_retry') retries.told(message);
        if (message['subtype'] === 'session_state_changed') asksPerson = message['state'] === 'requires_action';
        isLost ||= losesSession(message);
        block = blockOf(message) ?? block;
        break;
      case 'assistant':
        isStream = true;
        if (message['is_api_error_message'] !== true) {
          retries.answered();
          const said = recordIn(message['message']);
          if (model.take(said?.['id'])) use(usageOf(said?.['usage'], said?.['model']));
        }
        tools.asked(message);
        break;
      case 'stream_event':
        retries.gotOn();
        break;
      case 'user':
        tools.answered(message);
        break;
      case 'rate_limit_event':
        resetsAt = resetOf(message) ?? resetsAt;
        break;
      case 'result':
        result = message;
        use(usageOf(message['usage'], by), model.count > 0);
        written = 0;
        options.ear?.mark();
        break;
    }
  };

  return {
    take,
    line(text) {
      const message = messageIn(text);
      if (message !== undefined) take(message);
      else if (text.startsWith('[{')) for (const each of messagesIn(text)) take(each);
      return message === undefined ? 'traffic' : claudeSign(message);
    },
    report(wallNow) {
      const turns = result?.['num_turns'];
      const effects = isStream
        ? tools.effects
        : result === undefined
          ? 'unknown'
          : turns === 0 || turns === 1
            ? 'none'
            : 'possible';
      const last = textIn(result?.['result']);
      const joined = answers.joined(last);
      const said = result === undefined ? undefined : failureOf(result, { wallNow, resetsAt, block, joined });
      const isOpenLimit = said?.kind === 'rate_limit' && said.retryAfterMs === undefined;
      const failure = isOpenLimit && options.retriesItself === true ? retries.judge(said, isStream) : said;
      const text = failure === undefined ? (joined ?? last) : undefined;
      return {
        agent: 'claude',
        text: text === undefined ? undefined : answer(text),
        sessionId,
        effects,
        calls: model.count > 0 ? { model: model.count, tools: tools.count } : undefined,
        concluded: result !== undefined,
        failure,
        waiting: result === undefined ? (retries.waiting(wallNow) ?? (asksPerson ? forPerson : undefined)) : undefined,
        ...(isLost && { sessionLost: true }),
      };
    },
  };
}

const forPerson: FailureFacts = { kind: 'unknown', message: 'it waits for a person to answer', outcome: 'unknown' };

function messagesIn(line: string): readonly Message[] {
  const parsed = parsedJson(line);
  return Array.isArray(parsed) ? parsed.map(recordIn).filter((each) => each !== undefined) : [];
}

/** It becomes an argument, where a leading dash would make it an option. */
function sessionOf(message: Message): string | undefined {
  const id = textIn(message['session_id']);
  return id?.startsWith('-') === true ? undefined : id;
}

/** A hook that declined the prompt ends the run as a success; only this notice tells. */
function blockOf(message: Message): string | undefined {
  const outcome = recordIn(message['prompt_submit_outcome']);
  return outcome?.['kind'] === 'blocked_by_hook' ? (textIn(outcome['reason']) ?? 'no reason given') : undefined;
}

function resetOf(message: Message): number | undefined {
  const info = recordIn(message['rate_limit_info']) ?? message;
  const at = info['resetsAt'];
  return info['status'] === 'rejected' && typeof at === 'number' ? at : undefined;
}

interface Circumstances {
  readonly wallNow: number;
  readonly resetsAt: number | undefined;
  readonly block: string | undefined;
  /** The answer, where it came in pieces. */
  readonly joined: string | undefined;
}

const failed = (facts: Pick<FailureFacts, 'kind' | 'message'> & Partial<FailureFacts>): FailureFacts => ({
  outcome: 'failed',
  ...facts,
  message: facts.message.slice(0, longestMessage),
});

function failureOf(result: Message, { wallNow, resetsAt, block, joined }: Circumstances): FailureFacts | undefined {
  const text = textIn(result['result']);
  const subtype = textIn(result['subtype']) ?? 'success';
  const ended = textIn(result['terminal_reason']);
  if (result['is_error'] !== true && subtype === 'success') {
    const blocked = block ?? blockIn(text, result);
    if (blocked !== undefined) return failed({ kind: 'permanent', message: `A hook declined the prompt: ${blocked}` });
    if (ended?.startsWith('aborted') === true) return interrupted;
    const stopped = stopOf(ended);
    if (stopped !== undefined) return failed(stopped);
    if ((joined ?? text) !== undefined || result['structured_output'] !== undefined) return undefined;
    if (ended === 'stop_hook_prevented') return failed({ kind: 'permanent', message: 'A hook stopped the run' });
    const why = ended === undefined || ended === 'completed' ? '' : ` (${ended.slice(0, 100)})`;
    return failed({ kind: 'unknown', reason: 'empty_response', message: `Claude gave an empty answer${why}` });
  }
  if (ended?.startsWith('aborted') === true) return interrupted;
  const message = text ?? errorsIn(result) ?? `Claude ended with ${subtype}`;
  if (subtype.startsWith('error_max_')) return failed({ kind: 'permanent', message });
  const stopped = stopOf(ended);
  if (stopped !== undefined)
    return failed({ ...stopped, message: text ?? errorsIn(result) ?? stopped.message, status: statusOf(result) });
  const facts = classify(evidence(result, message), { wallNow });
  const hinted = facts.kind === 'rate_limit' || facts.kind === 'quota';
  if (!hinted || facts.retryAfterMs !== undefined || resetsAt === undefined) return { ...facts, cause: undefined };
  // The account's limit speaks of a matter of minutes or days, not of a pause.
  return { ...facts, kind: 'quota', retryAfterMs: clampHint(resetsAt * 1000 - wallNow), cause: undefined };
}

type Stop = Pick<FailureFacts, 'kind' | 'message'> & Partial<FailureFacts>;

/** Causes that ended a run before its answer was done, by Claude's own word (2.1.332); what is not here is judged by what is said besides. */
const stops: Readonly<Record<string, Stop>> = {
  background_requested: {
    kind: 'permanent',
    message: 'Claude was told to go on in the background',
    outcome: 'unknown',
  },
  blocking_limit: { kind: 'permanent', reason: 'context_length', message: 'The conversation is too long' },
  budget_exhausted: { kind: 'permanent', message: 'The budget of the run is spent' },
  hook_stopped: { kind: 'permanent', message: 'A hook stopped the run' },
  malformed_tool_use_exhausted: { kind: 'protocol', message: 'The model gave no tool call that can be read' },
  max_turns: { kind: 'permanent', message: 'The run took as many turns as it may' },
  prompt_too_long: { kind: 'permanent', reason: 'context_length', message: 'The prompt is too long' },
  rapid_refill_breaker: {
    kind: 'permanent',
    reason: 'context_length',
    message: 'The conversation fills up again as soon as it is compacted',
  },
  structured_output_retry_exhausted: { kind: 'permanent', message: 'The model gave no output of the form asked for' },
  tool_deferred: { kind: 'permanent', message: 'A hook put a tool call off: the run waits to be resumed' },
  tool_deferred_unavailable: { kind: 'permanent', message: 'The tool whose call was put off is not there' },
};

const stopOf = (ended: string | undefined): Stop | undefined =>
  ended !== undefined && Object.hasOwn(stops, ended) ? stops[ended] : undefined;

const interrupted: FailureFacts = { kind: 'cancelled', message: 'Claude was interrupted', outcome: 'unknown' };

/** Without the prompt that Claude repeats behind it. */
function blockIn(text: string | undefined, result: Message): string | undefined {
  if (result['num_turns'] !== 0) return undefined;
  // Only its beginning: over a long run of line breaks the search takes the square of their number.
  const start = (text ?? '').slice(0, 4 * longestMessage);
  const match = /^UserPromptSubmit operation blocked by hook:([\s\S]*?)(?:\n\s*Original prompt:|$)/.exec(start);
  return match === null ? undefined : (match[1] ?? '').trim().slice(0, 300);
}

function errorsIn(result: Message): string | undefined {
  const errors = result['errors'];
  return Array.isArray(errors) ? textIn(errors.filter((each) => typeof each === 'string').join('; ')) : undefined;
}

function statusOf(result: Message): number | undefined {
  const status = result['api_error_status'];
  return typeof status === 'number' ? status : undefined;
}

/** As an error of an API client has it, so that one set of rules judges both. */
function evidence(result: Message, message: string): object {
  const type = textIn(result['api_error_type']);
  return { message, status: statusOf(result), ...(type !== undefined && { error: { type } }) };
}
