import { type Given, choice, readGiven, text } from '../src/policy/options/face.ts';
import { show } from '../src/policy/text/face.ts';
import { recordIn } from '../src/protocol/face.ts';
import { repairAnthropic } from './anthropic.ts';
import { formatsOf, type TranscriptFormat, transcriptFormats } from './detect.ts';
import { Findings, type TranscriptReport } from './findings.ts';
import { type Interrupted, interruptedBy } from './interrupted.ts';
import { repairOpenAiChat } from './openaiChat.ts';
import { repairOpenAiResponses } from './openaiResponses.ts';
import { repairSession, repairSessionText } from './session.ts';

const repairKeys = {
  /** The format of the history. @defaultValue found out from the history */
  format: choice(transcriptFormats, { given: {} as TranscriptFormat }),
  /**
   * Text of a synthetic result. Give the same each time: by it a synthetic result is known again when the real one comes later.
   * @defaultValue a sentence that the call was interrupted, its outcome is unknown and should be checked before repeating
   */
  sentence: text(),
};

/** Options for reading and mending a transcript. */
export interface RepairOptions extends Given<typeof repairKeys> {}

/** Transcript as it was mended, and what was wrong with it. */
export interface TranscriptRepair<T> extends TranscriptReport {
  /** The well-formed history; the very one that was given when nothing was to repair. */
  readonly history: T;
  /** Undefined for plain messages without tools, which are the same in several formats and have nothing to repair. */
  readonly format: TranscriptFormat | undefined;
}

/**
 * Makes a history well-formed, so that the next request with it is not refused: every tool call has exactly one result, in its
 * place. A call without one gets a synthetic error that says its outcome is unknown. Real results are never lost, except those
 * without a call: a second one of the same call that says something else is joined to the first. Pure and idempotent: what is given is not changed.
 * @param history - messages of Anthropic (`anthropic`) or of OpenAI's chat completions (`openai-chat`), items of OpenAI's responses
 * (`openai-responses`), or a request that has them as `messages` or `input`; entries of a session's log of Claude Code
 * (`claude-code`), or its text, one JSON object a line.
 * @throws TypeError when `history` is none of these, RangeError when its format cannot be told.
 * @example
 * const { history, repairs } = repairTranscript(messages);
 * if (repairs > 0) save(history);
 */
export function repairTranscript<T>(history: T, options: RepairOptions = {}): TranscriptRepair<T> {
  const { format: named, sentence } = readGiven('options', options, repairKeys);
  const interrupted = interruptedBy(sentence);
  const findings = new Findings();
  const { format, repaired } =
    typeof history === 'string'
      ? repairText(history, named, findings, interrupted)
      : repairParsed(history, named, findings, interrupted);
  const report = findings.report();
  // A repaired history has the shape of what was given.
  return { history: report.repairs === 0 ? history : (repaired as T), format, ...report };
}

interface Repaired {
  readonly format: TranscriptFormat | undefined;
  readonly repaired: unknown;
}

function repairText(
  text: string,
  named: TranscriptFormat | undefined,
  findings: Findings,
  interrupted: Interrupted,
): Repaired {
  if (named !== undefined && named !== 'claude-code') {
    throw new TypeError(`Expected \`history\` to be parsed JSON for the format ${named}, got ${show(text)}`);
  }
  return { format: 'claude-code', repaired: repairSessionText(text, findings, interrupted, named === undefined) };
}

function repairParsed(
  history: unknown,
  named: TranscriptFormat | undefined,
  findings: Findings,
  interrupted: Interrupted,
): Repaired {
  if (Array.isArray(history)) {
    const format = named ?? detect(history);
    return { format, repaired: repairEntries(history, format, findings, interrupted) };
  }
  const request = recordIn(history);
  const fields = (['messages', 'input'] as const).filter((name) => Array.isArray(request?.[name]));
  const field = named === undefined ? fields[0] : fields.find((name) => (name === 'input') === isResponses(named));
  if (request === undefined || field === undefined) {
    const what = named === undefined ? '`messages` or `input`' : isResponses(named) ? '`input`' : '`messages`';
    throw new TypeError(
      `Expected \`history\` to be an array, or an object with an array ${what}, got ${show(history)}`,
    );
  }
  if (named === undefined && fields.length > 1) throw unclear('it has both `messages` and `input`');
  const entries = request[field] as readonly unknown[];
  const format = named ?? (field === 'input' ? 'openai-responses' : detect(entries));
  const isPart = [request['previous_response_id'], request['conversation']].some(
    (id) => id !== undefined && id !== null,
  );
  return { format, repaired: { ...request, [field]: repairEntries(entries, format, findings, interrupted, isPart) } };
}

const isResponses = (format: TranscriptFormat): boolean => format === 'openai-responses';

function repairEntries(
  entries: readonly unknown[],
  format: TranscriptFormat | undefined,
  findings: Findings,
  interrupted: Interrupted,
  isPart = false,
): readonly unknown[] {
  switch (format) {
    case 'anthropic':
      return repairAnthropic(entries, findings, interrupted);
    case 'openai-chat':
      return repairOpenAiChat(entries, findings, interrupted);
    case 'openai-responses':
      return repairOpenAiResponses(entries, findings, interrupted, isPart);
    case 'claude-code':
      return repairSession(entries, findings, interrupted);
    case undefined:
      return entries;
  }
}

/** Undefined for plain messages. */
function detect(entries: readonly unknown[]): TranscriptFormat | undefined {
  const [format, ...others] = formatsOf(entries);
  if (others.length > 0) throw unclear(`it has marks of ${[format, ...others].join(' and ')}`);
  if (format === undefined && !entries.every((entry) => typeof recordIn(entry)?.['role'] === 'string')) {
    throw unclear('its entries are neither messages nor items');
  }
  return format;
}

function unclear(why: string): RangeError {
  return new RangeError(
    `Cannot tell the format of \`history\`: ${why}; name it with \`format\`, one of ${transcriptFormats.join(', ')}`,
  );
}
