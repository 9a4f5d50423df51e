import { canonicalJson } from '../../policy/text/canonicalJson.ts';
import type { Finding } from '../../policy/reconcileMatch.ts';
import type { FailureFacts } from '../../policy/failures/failure.ts';
import type { LostAnswer } from '../../policy/reconcileRule.ts';
import type { Attempt } from '../attempt.ts';
import type { Call } from '../call.ts';
import type { Deadline } from '../deadlineQueue.ts';
import type { Asked, AskingRule } from '../../policy/reconciler.ts';

/** Is told when the time of an open effect has come: its probe is late, or it is to be asked again. */
export interface EffectWatcher<I, O> {
  effectDue(effect: OpenEffect<I, O>, now: number): void;
}

/** The loss of one answer. Times are monotonic, in ms. */
export interface Loss {
  readonly attempt: number;
  readonly facts: FailureFacts;
  readonly at: number;
  readonly answer: LostAnswer;
}

/**
 * An effect of which nobody knows whether it took place: the question what became of a call, and the calls that wait for it. It outlives its call.
 */
export class OpenEffect<I, O> implements Deadline {
  due = 0;
  heapIndex = -1;
  /** The call whose answer was lost; after `not_done` and its end, the one that is made in its place. */
  call: Call<I, O>;
  loss: Loss;
  readonly rule: AskingRule;
  /** Key that its input is known by; undefined where that is no JSON. */
  readonly inputKey: string | undefined;
  /** Calls that wait for its end, first come first. */
  readonly held = new Set<Call<I, O>>();
  /**
   * `writing`: the ledger is told. `queued`: its probe waits for its turn. `asking`: that is under way. `waiting`: for the time of the next.
   * `kept`: nobody is asked, its own answer is waited for. `repeating`: it did not happen, and its call is made again. `over`: nothing of it is open.
   */
  phase: 'writing' | 'queued' | 'asking' | 'waiting' | 'kept' | 'repeating' | 'over' = 'writing';
  /** Its attempt, while that goes on as it is kept. */
  kept: Attempt<Call<I, O>> | undefined = undefined;
  /** Probes made for this loss. */
  probes = 0;
  /** Number of those that count against the rule's attempts. */
  tries = 0;
  /** True where the other side can act no more, as of the start of the probe under way. */
  isFinal = false;
  /** Ends the probe under way. */
  probe: AbortController | undefined = undefined;
  readonly #watcher: EffectWatcher<I, O>;

  constructor(
    watcher: EffectWatcher<I, O>,
    call: Call<I, O>,
    rule: AskingRule,
    loss: Loss,
    inputKey: string | undefined,
  ) {
    this.#watcher = watcher;
    this.call = call;
    this.rule = rule;
    this.loss = loss;
    this.inputKey = inputKey;
  }

  /** True while it is asked for the fate of the call. */
  get isAsked(): boolean {
    return this.phase !== 'repeating' && this.phase !== 'over' && this.phase !== 'kept';
  }

  /** From when on the rule vouches that the other side acts no more; `Infinity` where it says nothing of it. */
  get finalAt(): number {
    return this.loss.at + (this.rule.notBeforeMs ?? Number.POSITIVE_INFINITY);
  }

  /** Until when a probe that is told to come again later does so without using up an attempt. */
  get patientUntil(): number {
    return this.finalAt === Number.POSITIVE_INFINITY
      ? this.call.overallDue
      : Math.max(this.call.overallDue, this.finalAt);
  }

  /** Tells whether a call waits for it. */
  concerns(call: Call<I, O>): boolean {
    return this.call === call || this.held.has(call);
  }

  expire(now: number): void {
    this.#watcher.effectDue(this, now);
  }
}

/** Bounds on the memory of a session: the latest, and for how long, in ms. */
const mostRemembered = 100;
const rememberedMs = 600_000;
/** Sessions of which something is remembered. */
const mostSessions = 1000;

/** Longest answers that are remembered of an integration, in bytes, all together. */
const mostBytes = 10_000_000;

/** Knowledge for an equal call of the session: a verdict that came too late for its own call, or the key of a call whose outcome is unknown. */
export interface Remembered {
  readonly at: number;
  readonly finding?: Finding | undefined;
  readonly key?: string | undefined;
  /** The call that it is of, where that was kept. */
  readonly kept?: KeptCall | undefined;
}

interface Known extends Remembered {
  readonly inputKey: string;
}

/** A call that was kept, as later ones are told of it. */
export interface KeptCall {
  readonly id: string;
  /** In monotonic ms. */
  readonly startedAt: number;
  /** As in its rule. */
  readonly given: (() => void) | undefined;
}

/** The effects of an integration's calls that are open, and what later calls of the session are to know of earlier ones. */
export class OpenEffects<I, O> {
  readonly #effects = new Set<OpenEffect<I, O>>();
  /** By session, oldest first: of several for one key each is given. */
  readonly #remembered = new Map<string, readonly Known[]>();

  get size(): number {
    return this.#effects.size;
  }

  /** True where a call need not look here at all. */
  get isEmpty(): boolean {
    return this.#effects.size === 0 && this.#remembered.size === 0;
  }

  /** Questions that are asked as of now; those whose call is being repeated are not. */
  get asked(): number {
    let asked = 0;
    for (const effect of this.#effects) if (effect.isAsked) asked++;
    return asked;
  }

  list(): readonly OpenEffect<I, O>[] {
    return [...this.#effects];
  }

  add(effect: OpenEffect<I, O>): void {
    this.#effects.add(effect);
  }

  delete(effect: OpenEffect<I, O>): void {
    this.#effects.delete(effect);
  }

  /** Those of the calls of a session. */
  of(session: string): readonly OpenEffect<I, O>[] {
    return this.list().filter(({ call }) => call.settings.session === session);
  }

  /**
   * The open effect that a call of a session has to wait for: of the same tool and input, or of the same tool where that is held. Of several that are kept
   * the first for which the fewest wait: each answer is given.
   */
  holding(session: string, tool: string | undefined, inputKey: string | undefined): OpenEffect<I, O> | undefined {
    let least: OpenEffect<I, O> | undefined;
    for (const effect of this.#effects) {
      if (effect.call.settings.session !== session || effect.loss.answer.tool !== tool) continue;
      if (effect.rule.hold !== 'tool' && (inputKey === undefined || inputKey !== effect.inputKey)) continue;
      if (effect.phase !== 'kept') return effect;
      if (least === undefined || effect.held.size < least.held.size) least = effect;
    }
    return least;
  }

  /** Remembers for an equal call. An answer for which there is no room is remembered without its value. */
  remember(session: string, inputKey: string, given: Remembered): void {
    const what = { ...this.#fitting(given), inputKey };
    // What a kept call came to is given beside that of others; all else takes the place of what was known.
    const rest = this.#of(session, what.at).filter(
      (known) => known.inputKey !== inputKey || (what.kept !== undefined && known.kept !== undefined),
    );
    // Anew, so that the latest are last.
    this.#remembered.delete(session);
    this.#remembered.set(session, [...rest, what].slice(-mostRemembered));
    for (const [oldest] of this.#remembered) {
      if (this.#remembered.size <= mostSessions) break;
      this.#remembered.delete(oldest);
    }
  }

  /** Returns a finding that came too late for its own call, for an equal one; each once, the oldest first. */
  recall(session: string, inputKey: string, now: number): (Remembered & { readonly finding: Finding }) | undefined {
    const known = this.#of(session, now).find((each) => each.inputKey === inputKey);
    if (known?.finding === undefined) return undefined;
    this.#forget(session, known);
    return { ...known, finding: known.finding };
  }

  /** Tells whether an equal call of a session would join one, or be given what one came to. */
  knows(session: string, tool: string | undefined, inputKey: string): boolean {
    const ofSession = this.#remembered.get(session) ?? [];
    if (ofSession.some((known) => known.inputKey === inputKey && known.finding !== undefined)) return true;
    return this.holding(session, tool, inputKey)?.inputKey === inputKey;
  }

  /** Gives until when each answer of a kept call is remembered that nobody has been given, in monotonic ms. */
  answersUntil(now: number): readonly number[] {
    const known = [...this.#remembered.keys()].flatMap((session) => this.#of(session, now));
    return known.filter(({ kept, finding }) => kept !== undefined && finding?.verdict === 'done').map(untilOf);
  }

  /** Tells whether a kept call of a session is known, by its id. */
  knowsKept(session: string, id: string): boolean {
    const ofSession = this.#remembered.get(session) ?? [];
    return (
      ofSession.some(({ kept }) => kept?.id === id) || [...this.#effects].some(({ loss }) => loss.answer.call === id)
    );
  }

  #of(session: string, now: number): readonly Known[] {
    return this.#remembered.get(session)?.filter((known) => untilOf(known) > now) ?? [];
  }

  #forget(session: string, known: Known): void {
    const rest = this.#remembered.get(session)?.filter((each) => each !== known) ?? [];
    if (rest.length > 0) this.#remembered.set(session, rest);
    else this.#remembered.delete(session);
  }

  #fitting(what: Remembered): Remembered {
    const { finding, at } = what;
    if (finding?.result === undefined) return what;
    const own = bytesOf(finding);
    let bytes = own;
    for (const session of [...this.#remembered.keys()]) {
      const fresh = this.#of(session, at);
      this.#remembered.set(session, fresh);
      if (fresh.length === 0) this.#remembered.delete(session);
      for (const known of fresh) bytes += bytesOf(known.finding);
    }
    if (bytes <= mostBytes) return what;
    const size =
      own > mostBytes ? `${(own / 1e6).toFixed(1)} MB, of ${mostBytes / 1e6} MB in all` : 'others fill the place';
    const why = `its answer was too large to be kept (${size})`;
    const how = what.kept === undefined ? `${finding.how}; ${why}` : why;
    return { ...what, finding: { verdict: finding.verdict, how } };
  }

  /** The key that is remembered for a call, for as long as no call with it was answered. */
  keyFor(session: string, inputKey: string, now: number): string | undefined {
    return this.#of(session, now).find((each) => each.inputKey === inputKey)?.key;
  }

  /** A call was answered: nobody has to know its key any more. */
  forgetKey(session: string, inputKey: string, key: string): void {
    const known = this.#remembered.get(session)?.find((each) => each.inputKey === inputKey);
    if (known?.key === key) this.#forget(session, known);
  }

  /** Nothing is remembered of a session any more. */
  forget(session: string): void {
    this.#remembered.delete(session);
  }

  clear(): void {
    this.#effects.clear();
    this.#remembered.clear();
  }
}

const untilOf = ({ at }: Remembered): number => at + rememberedMs;

/** Size of an answer as JSON; one that is none has no end. */
function bytesOf(finding: Finding | undefined): number {
  if (finding?.result === undefined) return 0;
  try {
    return JSON.stringify(finding.result.value)?.length ?? 0;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Returns the key that equal calls share: the tool, and the input as canonical JSON. Undefined where that is no JSON. */
export function inputKeyOf({ tool, input, exact = input }: Asked): string | undefined {
  const text = canonicalJson(exact ?? null);
  return text === undefined
    ? undefined
    : process
        .getBuiltinModule('node:crypto')
        .createHash('sha256')
        .update(`${tool ?? ''}\n${text}`)
        .digest('base64');
}

/** The open effect that a call is about, or waits for. The progress of a call is kept without its types. */
export function effectOf<I, O>({ progress }: Call<I, O>): OpenEffect<I, O> | undefined {
  return progress.openEffect as OpenEffect<I, O> | undefined;
}

/** Notes it. */
export function setEffect<I, O>(call: Call<I, O>, effect: OpenEffect<I, O> | undefined): void {
  call.ownProgress().openEffect = effect;
}
