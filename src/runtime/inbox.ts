import type { Clock, Timer } from '../policy/clock.ts';
import { read } from '../policy/failures/errorChain.ts';
import type { Fact, KeptFacts } from '../policy/facts/facts.ts';
import type { OrderResult } from '../policy/operatorOrder.ts';
import { boolean, duration, either, type Given, section, text, type Values } from '../policy/options/optionKeys.ts';
import { answerable, answerResult, questionText } from '../policy/records/question.ts';
import type { PersonAnswer, Question, QuestionEnd, QuestionRecords } from '../policy/records/question.ts';
import { canonicalJson } from '../policy/text/canonicalJson.ts';
import { boundedJson, boundedText, fromJson } from '../policy/text/storedJson.ts';
import type { FactRedactor } from '../redaction/redactFact.ts';
import type { Asked, Asking, Inbox } from '../sessions/inbox.ts';
import type { QuestionPlace } from '../sessions/questions.ts';
import { newWaiter } from '../store/askers.ts';
import { deliveryKeys, isHttp } from './alertOptions.ts';

const noticeKeys = {
  ...deliveryKeys('new question to a person,'),
  /**
   * Address under which people reach `unwedge serve` or `unwedge dashboard` on the same store, `http:` or `https:`: what is told has a link below it that
   * shows the question, and answers it once. @defaultValue no link
   */
  baseUrl: text({
    form: isHttp,
    expected: 'an http or https address',
    help: 'Address of `unwedge serve` or the dashboard, as people reach it: what is told has a link that answers the question, once.',
  }),
};

/** Programs and services that are told of each new question. */
export interface InboxNotice extends Given<typeof noticeKeys> {}

/** {@link InboxNotice}, checked. */
export type CheckedNotice = Values<typeof noticeKeys>;

const inboxKeys = {
  /** Told of each new question. @defaultValue nobody */
  notify: section(noticeKeys, { given: {} as InboxNotice, help: 'Who is told of each new question to a person.' }),
  /** Longest wait of a question that is given no other, in ms, above 0; then it is declined. @defaultValue 900000, 15 min */
  overallMs: duration({ default: 900_000, help: 'How long a question to a person waits for its answer.' }),
};

/** Options of the inbox of questions to people. */
export interface InboxOptions extends Given<typeof inboxKeys> {}

/** The option of an inbox; `true`: with its defaults. */
export const inboxKey = either<Values<typeof inboxKeys> | boolean, object, InboxOptions | boolean>(
  [boolean(), section(inboxKeys, { given: {} as InboxOptions })],
  (value) => (typeof value === 'object' ? 1 : 0),
  'true, false, or an object',
  {
    usually: 'false; true in `unwedge serve`',
    help: 'Whether questions to people are kept until somebody answers: the code that asks, `unwedge inbox` or HTTP.',
  },
);

/** Questions that a process waits for at once; one more is not kept. */
const mostWaiting = 1000;
/** Time after which it is looked whether another process has answered, in ms. */
const lookEveryMs = 1000;

interface InboxScope {
  readonly clock: Clock;
  readonly bus: Pick<KeptFacts, 'tell'>;
  readonly records: () => QuestionRecords | undefined;
  /** Takes secrets out of what is asked. */
  readonly redact: FactRedactor;
  readonly isRunning: () => boolean;
}

interface Waiting {
  readonly question: Question;
  /** Tells whether somebody asks it again where its process ends. */
  readonly lasts: boolean;
  /** Answer of the handler, until the store has it. */
  given: PersonAnswer | undefined;
  readonly finish: (question: Question) => void;
}

/** The inbox of a runtime: puts each question, and waits for its row to end, whoever ends it. */
export class StoredInbox implements Inbox {
  readonly overallMs: number;
  /** Tells where a session is in its turn; undefined where none is under way. */
  placeOf: (session: string) => QuestionPlace | undefined = () => undefined;
  readonly #scope: InboxScope;
  readonly #waiting = new Set<Waiting>();
  #timer: Timer | undefined = undefined;

  constructor(scope: InboxScope, { overallMs = 900_000 }: { readonly overallMs?: number | undefined }) {
    this.#scope = scope;
    this.overallMs = overallMs;
  }

  /** In a turn of its session a question has its place there, and the watchdog of that waits for a person. */
  async ask(asking: Asking): Promise<Asked> {
    const { session, asker, what, detail } = asking;
    const turn = session === undefined ? undefined : this.placeOf(session);
    const release = turn?.hold();
    const place = asking.place ?? (turn && [...turn.of, turn.count([asker, what, detail])]);
    const asked = await this.#ask({ ...asking, place });
    release?.();
    return asked;
  }

  async #ask(asking: Asking): Promise<Asked> {
    const { place, lasts = place !== undefined, overallMs = this.overallMs, ...rest } = asking;
    const { form, handler, signal, kept: told, ...given } = rest;
    const { clock, bus, redact, records, isRunning } = this.#scope;
    if (!isRunning() || this.#waiting.size >= mostWaiting) return unkept;
    const id = crypto.randomUUID().replaceAll('-', '').slice(0, 20);
    const askedAt = Math.round(clock.wallNow());
    const { what, detail } = redact({ what: boundedText(given.what), detail: given.detail });
    const kept = await records()?.ask({
      ...{ ...given, id, what, form: form ?? { is: 'decision' }, askedAt, waiter: await newWaiter(lasts) },
      place:
        place === undefined
          ? id
          : process
              .getBuiltinModule('node:crypto')
              .createHash('sha256')
              // What is asked belongs to its place: an answer allows nothing that nobody has seen.
              .update(
                canonicalJson([place, given.source, given.asker, given.what, given.detail ?? null, form ?? null]) ?? id,
              )
              .digest('base64url'),
      detail: detail === undefined ? undefined : read(fromJson(boundedJson({ detail }))?.value, 'detail'),
      deadlineAt: askedAt + overallMs,
    });
    if (kept === undefined) return unkept;
    const { question, isNew } = kept;
    const { source, deadlineAt } = question;
    if (isNew) bus.tell({ type: 'question.asked', ...about(question), source, what, deadlineAt });
    if (question.state === 'open') told?.(question);
    return this.#ended(question, lasts, signal, isNew ? handler : undefined);
  }

  waitingOf(session: string): readonly Question[] {
    return [...this.#waiting].flatMap(({ question }) => (question.session === session ? [question] : []));
  }

  async open(): Promise<readonly Question[]> {
    const now = this.#scope.clock.wallNow();
    return ((await this.#scope.records()?.open()) ?? []).filter(({ deadlineAt }) => deadlineAt > now);
  }

  async answer(id: string, answer: PersonAnswer): Promise<OrderResult> {
    const found = answerable((await this.#scope.records()?.named(id)) ?? [], id, answer);
    if ('ok' in found) return found;
    return answerResult(await this.#end(found.id, { state: 'answered', answer: masked(answer, this.#scope.redact) }));
  }

  /** Nobody is asked for a session any more: it is erased. */
  withdraw(session: string): void {
    for (const waiting of this.#waiting) if (waiting.question.session === session) this.#withdraw(waiting);
  }

  /** Ends the waits and leaves the questions open that are asked again: the gateway stops. */
  leave(): void {
    for (const waiting of this.#waiting) {
      if (waiting.lasts) waiting.finish(waiting.question);
      else this.#withdraw(waiting);
    }
  }

  #withdraw({ question, finish }: Waiting): void {
    finish({ ...question, state: 'withdrawn' });
    void this.#end(question.id, { state: 'withdrawn', waiter: question.waiter });
  }

  #ended(
    question: Question,
    lasts: boolean,
    signal: AbortSignal | undefined,
    handler: Asking['handler'],
  ): Promise<Asked> {
    if (question.state !== 'open') return Promise.resolve(askedOf(question));
    const { clock, isRunning } = this.#scope;
    const { id, deadlineAt } = question;
    return new Promise((resolve) => {
      const controller = new AbortController();
      let error: unknown;
      const waiting: Waiting = {
        ...{ question, lasts, given: undefined },
        finish: (ended) => {
          if (!this.#waiting.delete(waiting)) return;
          clock.clearTimeout(deadline);
          signal?.removeEventListener('abort', abort);
          const isGiven = ended.answer !== undefined && ended.answer === waiting.given;
          if (!isGiven) controller.abort(new Error(questionText(ended)));
          resolve(isGiven && error !== undefined ? { ...askedOf(ended), end: 'failed', error } : askedOf(ended));
        },
      };
      const abort = (): void => {
        const why = read(read(signal?.reason, 'cause'), 'reason');
        if (lasts && (!isRunning() || why === 'stopped' || why === 'taken_over')) waiting.finish(question);
        else this.#withdraw(waiting);
      };
      // An answer that was faster than the deadline counts. It is owed: a process with nothing else to do waits for it.
      const expire = async (): Promise<void> => {
        await this.#end(id, { state: 'expired' });
        waiting.finish({ ...question, state: 'expired' });
      };
      const deadline = clock.setTimeout(() => void expire(), Math.max(0, deadlineAt - clock.wallNow()), { ref: true });
      this.#waiting.add(waiting);
      signal?.addEventListener('abort', abort, { once: true });
      if (signal?.aborted === true) abort();
      else if (handler !== undefined) {
        void (async () => {
          try {
            const given = await handler(question, controller.signal);
            if (given === undefined) return;
            waiting.given = masked({ ...given, way: 'handler' }, this.#scope.redact);
          } catch (thrown) {
            error = thrown ?? new Error('The handler threw nothing');
            waiting.given = { decision: 'decline', reason: 'Asking for it failed', way: 'handler' };
          }
          await this.#end(id, { state: 'answered', answer: waiting.given });
        })();
      }
      this.#lookLater();
    });
  }

  async #end(id: string, end: QuestionEnd): ReturnType<QuestionRecords['end']> {
    const ended = await this.#scope.records()?.end(id, end, Math.round(this.#scope.clock.wallNow()));
    if (ended !== undefined) this.#hear(ended.question, ended.isNew);
    return ended;
  }

  /** @param isOurs - whether this process has ended it: else its end is on record. */
  #hear(question: Question, isOurs: boolean): void {
    const waiting = [...this.#waiting].filter((each) => each.question.id === question.id);
    if (question.state === 'open' || (!isOurs && waiting.length === 0)) return;
    this.#scope.bus.tell(endFact(question), !isOurs);
    for (const { finish } of waiting) finish(question);
  }

  #lookLater(): void {
    if (this.#waiting.size === 0) return;
    if (this.#timer !== undefined) return;
    this.#timer = this.#scope.clock.setTimeout(() => {
      void this.#look().finally(() => {
        this.#timer = undefined;
        this.#lookLater();
      });
    }, lookEveryMs);
  }

  /** Looks for ends by other processes, and keeps answers that the store did not take. */
  async #look(): Promise<void> {
    for (const { question, given } of this.#waiting) {
      const [found] = (await this.#scope.records()?.named(question.id)) ?? [];
      if (found !== undefined) this.#hear(found, false);
      if (given !== undefined) await this.#end(question.id, { state: 'answered', answer: given });
    }
  }
}

const unkept: Asked = { end: 'unkept', text: 'The question to a person could not be kept, and nobody was asked.' };

/** The answer, its words without secrets: they are for the record and the agent. Its value is what the asker waits for. */
export function masked(answer: PersonAnswer, redact: FactRedactor): PersonAnswer {
  const { reason, by } = answer;
  return { ...answer, ...redact({ reason, by }) };
}

function askedOf(question: Question): Asked {
  const { state, answer } = question;
  return { end: state === 'open' ? 'left' : state, question, answer, text: questionText(question) };
}

const about = ({ id, asker, session }: Question) => ({ question: id, asker, session });

/** The fact that tells of the end of a question. */
export function endFact(question: Question): Fact {
  const { state, askedAt, endedAt = askedAt, answer } = question;
  const told = { ...about(question), waitedMs: endedAt - askedAt };
  if (answer === undefined) return { type: state === 'withdrawn' ? 'question.withdrawn' : 'question.expired', ...told };
  const { decision, by, way, reason } = answer;
  return { type: 'question.answered', ...told, decision, by, way, reason };
}
