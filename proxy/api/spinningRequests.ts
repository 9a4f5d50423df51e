import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { crc32 } from 'node:zlib';
import {
  chosenLimits,
  keepNewest,
  seenCall,
  type SpinningChoice,
  type SpinningVerdict,
  SpinningWatch,
} from '../../src/policy/spinning/face.ts';
import { read, readString } from '../../src/policy/failures/face.ts';
import { parsedJson } from '../../src/policy/text/face.ts';
import { elementSpans, memberSpan } from '../../src/protocol/mcp/face.ts';
import { type ConversationStep, conversationIn, hasAnswers, messagesIn } from './conversation.ts';
import { conversationsOf } from './repeats.ts';

/** Conversations that are remembered, and ids of calls of each: more than a request is read for. */
const [mostKnown, mostIds] = [200, 500];
/** A longer body is not looked at, in bytes: 8 MB take 20 ms. */
const mostRead = 8 * 1024 * 1024;
/** Characters by which the request before is found. */
const beginningLength = 250;
/** Mark of Claude Code on its last messages, which the next request has elsewhere. Within a text its quotes would be escaped. */
const cacheMark = /,"cache_control":\{[^{}]*\}/g;

/** A call that repeats, of those whose answers stand at the end of a request. */
export interface SpinningCall {
  readonly tool: string;
  readonly verdict: SpinningVerdict;
}

/** Memory of a conversation as of its last request. */
interface Known {
  readonly session: string;
  readonly watch: SpinningWatch;
  /** Ids of the calls that were judged; undefined where it has no name, or its calls are not told apart by them. */
  readonly ids: Set<string> | undefined;
  /** Verdicts on the last answers: those that the model had not seen yet. */
  readonly found: readonly SpinningCall[];
  /** True where a person has said something since. */
  readonly isMarked: boolean;
  readonly messages: number;
  readonly lastCall: string | undefined;
  /** Characters of the request up to the end of its last message, and their checksum: of one that begins with the same only the rest is read. */
  readonly length: number;
  readonly checksum: number;
}

/**
 * Judges repetition by the conversation that each request carries. One that its client names by an id of its own survives a compaction; any other is judged from
 * the request alone. Keeps fingerprints and ids, at most 32 kB for each of 200 conversations.
 */
export class SpinningRequests {
  readonly #known = new Map<string, Known>();
  /** Sessions by the beginning of their requests. */
  readonly #begun = new Map<string, string>();
  readonly #made: () => SpinningWatch;

  constructor(choice: Exclude<SpinningChoice, 'off'>) {
    // A request tells of calls that were made: what would refuse the next one ends the turn.
    this.#made = () => new SpinningWatch(chosenLimits(choice === 'hold' ? 'end' : choice));
  }

  /** @param at - wall time in ms. @returns none where nothing repeats, or a person has said something since */
  judge(body: Buffer, headers: IncomingHttpHeaders, at: number): Pick<Known, 'session' | 'found'> {
    if (body.length > mostRead || !hasAnswers(body)) return { session: '', found: [] };
    const text = body.toString('utf8').replaceAll(cacheMark, '');
    const beginning = `${idsIn(headers)} ${crc32(text.slice(0, beginningLength))}`;
    const before = this.#known.get(this.#begun.get(beginning) ?? '');
    const known = (before && goneOn(before, text, at)) ?? this.#read(text, headers, at);
    const { session, found, isMarked } = known;
    keepNewest(this.#begun, beginning, session, mostKnown);
    keepNewest(this.#known, session, known, mostKnown);
    return { session, found: isMarked ? [] : found };
  }

  /** Reads all of a request. */
  #read(text: string, headers: IncomingHttpHeaders, at: number): Known {
    const asked = parsedJson(text);
    const { key, messages } = messagesIn(asked);
    const steps = conversationIn(messages);
    const ids = idsOf(steps);
    const id = idOf(headers, asked);
    const session = id ?? `conversation ${firstWordsOf(messages)}`;
    const isNamed = id !== undefined && new Set(ids).size === ids.length;
    const length = text.slice(0, (memberSpan(text, key)?.end ?? 1) - 1).trimEnd().length;
    const checksum = crc32(text.slice(0, length));
    const request = { session, messages: messages.length, lastCall: ids.at(-1), length, checksum };
    const before = this.#known.get(session);
    const isAgain = before?.messages === request.messages && before.lastCall === request.lastCall;
    const known = (isNamed && before) || { watch: this.#made(), ids: isNamed ? new Set<string>() : undefined };
    // One without a name may begin and end as another does: what is known of it is only whether it was told.
    const judged = isNamed && isAgain ? before : feed(known, steps, at);
    return { ...judged, ...request, found: isAgain ? judged.found.map(toldBefore) : judged.found };
  }
}

/** Reads what is new of a request; undefined where it is none that goes on from what is known. */
function goneOn(known: Known, text: string, at: number): Known | undefined {
  const { length, checksum, ids } = known;
  const next = text.charAt(length);
  if ((next !== ',' && next !== ']') || crc32(text.slice(0, length)) !== checksum) return undefined;
  if (next === ']') return { ...known, found: known.found.map(toldBefore) };
  const list = `[${text.slice(length + 1)}`;
  const end = elementSpans(list).at(-1)?.end ?? 1;
  const messages = parsedJson(`${list.slice(0, end)}]`);
  if (!Array.isArray(messages)) return undefined;
  const steps = conversationIn(messages);
  const told = idsOf(steps);
  // Calls are not told apart by their ids after all.
  if (ids !== undefined && told.some((id, index) => ids.has(id) || told.indexOf(id) < index)) return undefined;
  return {
    ...feed(known, steps, at, known),
    session: known.session,
    messages: known.messages + messages.length,
    lastCall: told.at(-1) ?? known.lastCall,
    length: length + end,
    checksum: crc32(text.slice(length, length + end), checksum),
  };
}

const idsOf = (steps: readonly ConversationStep[]): readonly string[] =>
  steps.flatMap((step) => (typeof step === 'object' ? [step.id] : []));

const toldBefore = ({ tool, verdict }: SpinningCall): SpinningCall => ({
  tool,
  verdict: { ...verdict, isNews: false },
});

/** Takes what is new of a conversation. @param goesOn - what came of the steps right before. @defaultValue it may be told from its summary on */
function feed(
  { watch, ids }: Pick<Known, 'watch' | 'ids'>,
  steps: readonly ConversationStep[],
  at: number,
  goesOn?: Pick<Known, 'found' | 'isMarked'>,
) {
  // What opens a conversation that is known is a summary of it.
  let isOpened = goesOn !== undefined || ids === undefined || ids.size === 0;
  let isMarked = goesOn?.isMarked ?? false;
  let found = [...(goesOn?.found ?? [])];
  for (const step of steps) {
    if (step === 'model') [isOpened, found] = [true, []];
    else if (step === 'person') isMarked = isOpened;
    else if (ids?.has(step.id) === true) isMarked = false;
    else {
      if (isMarked) watch.mark();
      isMarked = false;
      const verdict = watch.after(seenCall(step), step.answer, at);
      if (verdict !== undefined) found.push({ tool: step.tool, verdict });
      if (ids?.add(step.id) && ids.size > mostIds) ids.delete(ids.values().next().value as string);
    }
  }
  return { watch, ids, found, isMarked };
}

/** The id that a client gives its conversation; sub-agents have one of their own. One so short that it can be that of another run is none. */
function idOf(headers: IncomingHttpHeaders, asked: unknown): string | undefined {
  // In the body: that of Claude Code before it sent a header, and of clients of responses.
  const ofClaude = /session_(?:id":")?([\w-]{20,})/.exec(readString(read(asked, 'metadata'), 'user_id') ?? '')?.[1];
  const ofCache = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.exec(readString(asked, 'prompt_cache_key') ?? '')?.[0];
  const id = idsIn(headers) || (ofClaude ?? ofCache ?? '');
  return id.length >= 20 ? id : undefined;
}

const idsIn = (headers: IncomingHttpHeaders): string =>
  [...new Set([...conversationsOf(headers), headers['x-claude-code-agent-id'] ?? []].flat())].join('/');

/** Stands for the words that a conversation began with. */
const firstWordsOf = (messages: readonly unknown[]): string =>
  createHash('sha256')
    .update(JSON.stringify(messages.slice(0, 2)))
    .digest('hex')
    .slice(0, 8);

/** Value of `x-unwedge-spinning`: `notice; tool=Bash; count=4`. */
export const spinningHeader = ({ tool, verdict: { step, count } }: SpinningCall): string =>
  `${step}; tool=${tool.replaceAll(/[^\w.:/-]/g, '_').slice(0, 80)}; count=${count}`;
