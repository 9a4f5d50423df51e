import type { Effect } from '../effects.ts';
import {
  type AnswerKey,
  alikeKey,
  answerWords,
  exactKey,
  failureKey,
  isPatient,
  isSlow,
  type SeenAnswer,
  textOf,
} from './answerKey.ts';
import { type CallKey, CallRing, defaultWindow } from './callRing.ts';
import { fingerprint, paired, textFingerprint } from './fingerprint.ts';
import { keepNewest } from './keepNewest.ts';
import {
  isToldAt,
  type RepeatRule,
  type Spinning,
  spinning,
  type SpinningLimits,
  type SpinningStep,
  type StepCounts,
} from './spinningRule.ts';
import { refusedText, spinningWords, toldText } from './spinningText.ts';

/** A call as repetition is judged by it; made by {@link seenCall}. */
export interface SeenCall {
  readonly tool: string;
  /** Its arguments: a value that is JSON. */
  readonly input: unknown;
  /** Effect that is declared for it. @defaultValue none is: it may act */
  readonly effect?: Effect | undefined;
  readonly rule?: RepeatRule | undefined;
  /** Counts that hold for it. @defaultValue those of the watch */
  readonly limits?: SpinningLimits | undefined;
  readonly key: CallKey;
}

/** @param call - with `exact`: what tells it from others where its arguments do not. */
export function seenCall(call: Omit<SeenCall, 'key'> & { readonly exact?: unknown }): SeenCall {
  const tool = textFingerprint(call.tool);
  const key = { tool, call: paired(tool, fingerprint(call.exact ?? work(call.input ?? null))) };
  // One by one: to spread what may lack some of them takes longer than all the rest.
  return { tool: call.tool, input: call.input, effect: call.effect, rule: call.rule, limits: call.limits, key };
}

/** Words on a command for people, which a model words anew each time. */
const remarks = { description: undefined, explanation: undefined, justification: undefined };

/** Arguments without remarks on a command. Never throws. */
function work(input: unknown): unknown {
  try {
    const { command, cmd = command } = input as { readonly command?: unknown; readonly cmd?: unknown };
    return typeof cmd === 'string' || Array.isArray(cmd) ? { ...(input as object), ...remarks } : input;
  } catch {
    // No object, or one of the caller's that cannot be read.
    return input;
  }
}

/** Verdict on a call. */
export interface SpinningVerdict extends Spinning {
  /** True where people are to hear of it: a step that this call did not come to before. */
  readonly isNews: boolean;
  /** Sentence for the agent, where it is told now; of `hold` and `end` the text of the refusal or of the end. */
  readonly text: string | undefined;
  /** Last answer in a few words, for people. */
  readonly words: string;
}

interface LastAnswer {
  readonly words: string;
  /** In ms since the epoch. */
  at: number;
}

/** Repeated calls whose last answer is kept in words; the oldest goes first. */
const mostKept = 16;
/** Calls of a tool between two words on failures whose arguments differ. */
const variedPause = 8;
/** First answers that are kept until the call comes again, and the bytes of each. */
const mostFirst = 5;
const firstBytes = 500;

const isNever = ({ failures, reads }: StepCounts): boolean => Math.min(failures, reads) === Number.POSITIVE_INFINITY;

/** Repetition in one session, or of one client: what its calls come to, one after the other. Takes at most 16 kB. */
export class SpinningWatch {
  readonly #limits: SpinningLimits;
  #ring: CallRing;
  /** Last answers of calls that repeat, with their steps, by fingerprints. */
  readonly #last = new Map<number, LastAnswer & { readonly step: SpinningStep }>();
  /** Texts of answers that came for the first time: what changes by itself is looked for once they come again. */
  readonly #first = new Map<number, Buffer>();
  /** Calls until the word on varied failures of a tool is said again, by its fingerprint. */
  readonly #quiet = new Map<number, number>();

  /** Wall times before which a call that was asked to wait comes too early, half of its wait being over, by its fingerprint. */
  readonly #waits = new Map<number, number>();

  constructor(limits: SpinningLimits, window = defaultWindow) {
    this.#limits = limits;
    this.#ring = new CallRing(window);
  }

  /** Asked before a call is made. @returns what it is refused for; then it counts as made, and as answered as before */
  before(call: SeenCall): SpinningVerdict | undefined {
    const { key, rule, limits = this.#limits } = call;
    if (isNever(limits.hold) && isNever(limits.end)) return undefined;
    const standing = this.#ring.standing(key.call);
    const due = standing && spinning(standing, limits, rule);
    if (due?.step !== 'hold' && due?.step !== 'end') return undefined;
    const again = this.#ring.addRefused(key.call);
    const found = again && spinning(again, limits, rule);
    return found && this.#verdict(call, found, this.#last.get(key.call));
  }

  /** Takes a call that was answered. @param at - wall time in ms. @returns what its repetition comes to; undefined: nothing */
  after(call: SeenCall, answer: SeenAnswer, at: number): SpinningVerdict | undefined {
    const { key, effect, rule, limits = this.#limits } = call;
    const before = this.#ring.lastAnswer(key.call);
    const answered = answer.ok ? this.#successKey(key.call, answer.value, before) : failureKey(call, answer, before);
    const repetition = this.#ring.add(
      {
        key,
        answer: answered,
        failed: !answer.ok,
        acts: effect !== 'readOnly',
        slow: isSlow(answer),
      },
      () => !this.#isEarly(key.call, answer, at) && isPatient(answer),
    );
    this.#noteWait(key.call, answer, at);
    const quiet = this.#quiet.get(key.tool);
    if (quiet === 0) this.#quiet.delete(key.tool);
    else if (quiet !== undefined) this.#quiet.set(key.tool, quiet - 1);
    const found = spinning(repetition, limits, rule);
    if (found !== undefined) {
      const said = before?.exact === answered.exact ? this.#last.get(key.call)?.words : undefined;
      return this.#verdict(call, found, { words: said ?? answerWords(answer), at });
    }
    if (this.#last.size > 0) this.#last.delete(key.call);
    return undefined;
  }

  /** Tells that a new message is worked on: what was before it neither refuses a call nor ends anything. */
  mark(): void {
    this.#ring.mark();
  }

  /** All that is known, as a text for {@link restore}. @param masked - takes secrets out of words that were answered */
  toText(masked: (words: string) => string = (words) => words): string {
    // Who goes on from it has no first answers to look at.
    for (const call of this.#first.keys()) this.#settleFirst(call);
    const last = [...this.#last].map(([key, each]) => [key, { ...each, words: masked(each.words) }]);
    return JSON.stringify([this.#ring.toRows(), last, [...this.#quiet]]);
  }

  /** Goes on from what {@link toText} wrote; what is none counts as nothing. Never throws. */
  restore(text: string): void {
    try {
      type Last = [number, LastAnswer & { readonly step: SpinningStep }][];
      const [rows, last, quiet] = JSON.parse(text) as [unknown, Last, [number, number][]];
      this.#ring = CallRing.from(rows, this.#ring.window);
      for (const [key, each] of last.slice(-mostKept))
        if (typeof each.words === 'string' && Math.abs(each.at) < 8.64e15) this.#last.set(key, each);
      for (const [tool, calls] of quiet) if (calls >= 0) this.#quiet.set(tool, calls);
    } catch {
      // It is of another release, or damaged: repetition counts from here.
    }
  }

  /** Who asks again at once does not wait, whatever the answer asks for. */
  #isEarly(call: number, { tookMs = 0 }: SeenAnswer, at: number): boolean {
    return at - tookMs < (this.#waits.get(call) ?? Number.NEGATIVE_INFINITY);
  }

  #noteWait(call: number, answer: SeenAnswer, at: number): void {
    if (this.#waits.size > 0) this.#waits.delete(call);
    if (answer.ok || typeof answer.waits !== 'number') return;
    keepNewest(this.#waits, call, at + answer.waits / 2, mostKept);
  }

  #successKey(call: number, value: unknown, last: AnswerKey | undefined): AnswerKey {
    const text = textOf(value);
    const exact = exactKey(value, text);
    if (last?.exact === exact) return last;
    if (last === undefined) {
      if (text !== undefined) this.#keepFirst(call, text);
      return { exact, alike: exact, reason: 0 };
    }
    this.#settleFirst(call);
    const key = { exact, alike: alikeKey(value, text), reason: 0 };
    this.#ring.settle(call, key);
    return key;
  }

  #settleFirst(call: number): void {
    const first = this.#first.get(call)?.toString();
    if (first !== undefined)
      this.#ring.settle(call, { exact: textFingerprint(first), alike: alikeKey(first), reason: 0 });
    this.#first.delete(call);
  }

  #keepFirst(call: number, text: string): void {
    const size = text.length > firstBytes ? text.length : Buffer.byteLength(text);
    // Of a text without any of these little could change by itself.
    if (size > firstBytes || !/[\d\r{]/.test(text)) return;
    // A copy of its own: a part of a large text, or of the pool of buffers, would keep all of it.
    const copy = Buffer.allocUnsafeSlow(size);
    copy.write(text);
    keepNewest(this.#first, call, copy, mostFirst);
  }

  #keepLast(call: number, { words, at }: LastAnswer, step: SpinningStep): void {
    const known = this.#last.get(call);
    if (known?.step !== step || known.words !== words || this.#last.size === mostKept)
      keepNewest(this.#last, call, { words, at, step }, mostKept);
    else known.at = at;
  }

  #verdict(call: SeenCall, found: Spinning, last: LastAnswer | undefined): SpinningVerdict {
    const { key, limits = this.#limits } = call;
    const quiet = this.#quiet.get(key.tool) ?? -1;
    // One failure under many arguments is news once for its tool, until calls of it were answered otherwise.
    const isNews = found.form === 'varied' ? quiet < 0 : this.#last.get(key.call)?.step !== found.step;
    if (last !== undefined) this.#keepLast(key.call, last, found.step);
    const isDue = found.form === 'varied' ? quiet <= 0 : isToldAt(found, limits);
    if (found.form === 'varied' && quiet <= 0) this.#quiet.set(key.tool, variedPause);
    const isRefused = found.step === 'hold' || found.step === 'end';
    const told = found.step === 'tell' && isDue ? toldText(call.tool, found) : undefined;
    const text = isRefused ? refusedText(call.tool, found, last) : told;
    const { step, form, count, period, next } = found;
    return { step, form, count, period, next, isNews, words: last?.words ?? '', text };
  }
}

/** What `session.spinning` tells of a verdict, beside whom it is about. */
export const spinningNews = (tool: string, verdict: SpinningVerdict) => {
  const { step, form, count, period, words } = verdict;
  return { tool, step, form, count, period, message: spinningWords(tool, verdict), answer: words };
};

/** Rule of a tool, as its options say. */
export const repeatRule = (
  tool: { readonly poll?: boolean | undefined; readonly repeats?: 'allowed' | undefined } | undefined,
): RepeatRule | undefined => tool?.repeats ?? (tool?.poll === true ? 'poll' : undefined);
