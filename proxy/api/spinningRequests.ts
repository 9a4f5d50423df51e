import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import {
  chosenLimits,
  seenCall,
  type SpinningChoice,
  type SpinningVerdict,
  SpinningWatch,
} from '../../src/policy/spinning/face.ts';
import { read, readString } from '../../src/policy/failures/face.ts';
import { parsedJson } from '../../src/policy/text/face.ts';
import { type ConversationStep, conversationIn, hasAnswers, messagesIn } from './conversation.ts';
import { conversationsOf } from './repeats.ts';

/** Conversations that are remembered, and ids of calls of each: more than a request is read for. */
const [mostKnown, mostIds] = [200, 500];
/** A longer body is not looked at, in bytes: 8 MB take 20 ms. */
const mostRead = 8 * 1024 * 1024;

/** A call that repeats, of those whose answers stand at the end of a request. */
export interface SpinningCall {
  readonly tool: string;
  readonly verdict: SpinningVerdict;
}

/** What is remembered of a conversation: the ids of calls that were judged, where its last request ended, and what came of it. */
interface Known {
  readonly watch: SpinningWatch;
  readonly ids: Set<string>;
  readonly last: string;
  readonly found: readonly SpinningCall[];
}

/**
 * Judges repetition by the conversation that each request carries. One that its client names by an id of its own survives a compaction; any other is judged from
 * the request alone. Keeps fingerprints and ids, at most 32 kB for each of 200 conversations.
 */
export class SpinningRequests {
  readonly #known = new Map<string, Known>();
  readonly #made: () => SpinningWatch;

  constructor(choice: Exclude<SpinningChoice, 'off'>) {
    // A request tells of calls that were made: what would refuse the next one ends the turn.
    this.#made = () => new SpinningWatch(chosenLimits(choice === 'hold' ? 'end' : choice));
  }

  /** @param at - wall time in ms. @returns none where nothing repeats, or a person has said something since */
  judge(body: Buffer, headers: IncomingHttpHeaders, at: number): { session: string; found: readonly SpinningCall[] } {
    const nothing = { session: '', found: [] };
    if (body.length > mostRead || !hasAnswers(body)) return nothing;
    const asked = parsedJson(body.toString('utf8'));
    const steps = conversationIn(asked);
    const calls = steps.filter((step) => typeof step === 'object');
    const id = idOf(headers, asked);
    const session = id ?? `conversation ${firstWordsOf(asked)}`;
    const isNamed = id !== undefined && new Set(calls.map((call) => call.id)).size === calls.length;
    const last = `${messagesIn(asked).length} ${calls.at(-1)?.id}`;
    const before = this.#known.get(session);
    const isAgain = before?.last === last;
    const { watch, ids } = (isNamed && before) || { watch: this.#made(), ids: new Set<string>() };
    // One without a name may begin and end as another does: what is known of it is only whether it was told.
    const judged = isAgain && isNamed ? before.found : feed(watch, isNamed ? ids : undefined, steps, at);
    const found = isAgain ? judged.map(toldBefore) : judged;
    this.#known.delete(session);
    this.#known.set(session, { watch, ids, last, found });
    if (this.#known.size > mostKnown) this.#known.delete(this.#known.keys().next().value as string);
    return steps.at(-1) === 'person' ? nothing : { session, found };
  }
}

const toldBefore = ({ tool, verdict }: SpinningCall): SpinningCall => ({
  tool,
  verdict: { ...verdict, isNews: false },
});

/** Takes what is new of a conversation. @returns what came of the last answers: those that the model has not seen yet */
function feed(watch: SpinningWatch, ids: Set<string> | undefined, steps: readonly ConversationStep[], at: number) {
  // What opens a conversation that is known is a summary of it.
  let isOpened = ids === undefined || ids.size === 0;
  let isMarked = false;
  let found: SpinningCall[] = [];
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
  return found;
}

/** The id that a client gives its conversation; sub-agents have one of their own. One so short that it can be that of another run is none. */
function idOf(headers: IncomingHttpHeaders, asked: unknown): string | undefined {
  const ids = [...conversationsOf(headers), headers['x-claude-code-agent-id'] ?? []].flat();
  // In the body: that of Claude Code before it sent a header, and of clients of responses.
  const ofClaude = /session_(?:id":")?([\w-]{20,})/.exec(readString(read(asked, 'metadata'), 'user_id') ?? '')?.[1];
  const ofCache = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.exec(readString(asked, 'prompt_cache_key') ?? '')?.[0];
  const id = [...new Set(ids)].join('/') || (ofClaude ?? ofCache ?? '');
  return id.length >= 20 ? id : undefined;
}

/** Stands for the words that a conversation began with. */
const firstWordsOf = (asked: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(messagesIn(asked).slice(0, 2)))
    .digest('hex')
    .slice(0, 8);

/** Value of `x-unwedge-spinning`: `notice; tool=Bash; count=4`. */
export const spinningHeader = ({ tool, verdict: { step, count } }: SpinningCall): string =>
  `${step}; tool=${tool.replaceAll(/[^\w.:/-]/g, '_').slice(0, 80)}; count=${count}`;
