import { notDone, type OrderResult } from '../operatorOrder.ts';
import { type QuestionForm, unfit } from './formFit.ts';

export type { QuestionForm } from './formFit.ts';

/** Answer of a person. */
export interface PersonAnswer {
  readonly decision: 'accept' | 'decline';
  /** The text, the id of the option or the fields, by the form. @defaultValue there is none */
  readonly value?: unknown;
  readonly reason?: string | undefined;
  /** Who answered. @defaultValue not known */
  readonly by?: string | undefined;
  /** Way by which it came: the code that asks, `unwedge inbox`, the dashboard, HTTP, a signed link, or the code of the gateway. */
  readonly way: 'handler' | 'command' | 'page' | 'http' | 'link' | 'code';
}

/** A question as it is put. Times are wall time in ms since the epoch; what it says is without secrets. */
export interface NewQuestion {
  readonly id: string;
  /** The same for each delivery of a message that asks it again. */
  readonly place: string;
  /** Names who waits for it now: the last that has asked in its place. */
  readonly waiter: string;
  readonly source: 'approval' | 'ask' | 'elicitation' | 'permission' | 'hook' | 'workflow' | 'tool' | 'sign_in';
  /** Name of the approval, the server, the agent, the hook or the session. */
  readonly asker: string;
  readonly session?: string | undefined;
  readonly what: string;
  /** Data to judge by. @defaultValue there is none */
  readonly detail?: unknown;
  readonly form: QuestionForm;
  readonly askedAt: number;
  readonly deadlineAt: number;
}

/** End of a question: nobody answered in time (`expired`), or this waiter asks it no more (`withdrawn`). */
export type QuestionEnd =
  | { readonly state: 'answered'; readonly answer: PersonAnswer }
  | { readonly state: 'expired' }
  | { readonly state: 'withdrawn'; readonly waiter: string };

/** A question as it is kept. */
export interface Question extends NewQuestion {
  readonly state: 'open' | QuestionEnd['state'];
  readonly endedAt?: number | undefined;
  readonly answer?: PersonAnswer | undefined;
}

/** Questions of all processes that share a store, each ended once. Nothing here throws or rejects. */
export interface QuestionRecords {
  /**
   * Puts a question, or finds the one of its place; one that was withdrawn is open again, until its first deadline.
   * @returns the question, and whether people have to be told of it; undefined while the store cannot keep it.
   */
  ask(question: NewQuestion): Promise<{ readonly isNew: boolean; readonly question: Question } | undefined>;
  /** @returns the question with its one end, and whether it is this one; undefined where there is none, or the store cannot be written now. */
  end(id: string, end: QuestionEnd, wallNow: number): Promise<{ isNew: boolean; question: Question } | undefined>;
  /** The open ones, oldest first, at most 1000. */
  open(): Promise<readonly Question[]>;
  /** Those whose ids begin so, at most 2. */
  named(prefix: string): Promise<readonly Question[]>;
  /** Signs the id of a question for a link to it, by a secret of the store, which is made where there is none; undefined where that cannot be. */
  sign(id: string): Promise<string | undefined>;
}

/** Tells whether an answer is a yes to a definition of a tool that was declined: the tool waits for that as long as it is held. */
function mayTakeBack({ source, answer }: Question, { decision }: PersonAnswer): boolean {
  return source === 'tool' && answer?.decision === 'decline' && decision === 'accept';
}

/** The question when somebody asks in its place; the same where that changes nothing. */
export function askedAgain(known: Question, { waiter }: NewQuestion): Question {
  if (known.state !== 'open' && known.state !== 'withdrawn') return known;
  return { ...known, waiter, state: 'open', endedAt: undefined };
}

/** The question with this end; undefined where it has one, or the end is not for it. An answer at the deadline or behind it is none. */
export function endedBy(question: Question, end: QuestionEnd, wallNow: number): Question | undefined {
  const isOver = question.state !== 'open' && !(end.state === 'answered' && mayTakeBack(question, end.answer));
  if (isOver || (end.state === 'withdrawn' && end.waiter !== question.waiter)) return undefined;
  const answer = end.state === 'answered' ? named(end.answer) : undefined;
  const ended = { ...question, endedAt: wallNow };
  return answer !== undefined && question.deadlineAt <= wallNow
    ? { ...ended, state: 'expired' }
    : { ...ended, state: end.state, answer };
}

/** The answer with the name of who gave it on one line, which begins no sentence of ours. */
function named(answer: PersonAnswer): PersonAnswer {
  const by = answer.by
    ?.replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, 100);
  return by === answer.by ? answer : { ...answer, by: by === '' ? undefined : by };
}

/** An open question as people and programs see it. */
export function shownQuestion({ id, source, asker, session, what, detail, form, askedAt, deadlineAt }: Question) {
  return { id, source, asker, session, what, detail, form, askedAt, deadlineAt };
}

/** Says how a question stands, in a sentence. */
export function questionText({ id, state, answer, deadlineAt, endedAt = 0 }: Question): string {
  const asked = `A person was asked (question ${id})`;
  if (state === 'open') return `${asked}, who can answer until ${time(deadlineAt)}.`;
  if (state === 'withdrawn') return `The question ${id} was withdrawn: nobody waits for its answer any more.`;
  if (answer === undefined) return `${asked}; nobody answered until ${time(deadlineAt)}: declined.`;
  const { decision, by = 'somebody', way, reason } = answer;
  const words = decision === 'accept' ? 'allowed' : 'declined';
  return `${asked}: ${words} by ${by} (${way}) at ${time(endedAt)}${reason === undefined ? '.' : `: ${reason}`}`;
}

const time = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');

/** Finds the question that an answer is for, among those whose ids begin as given; or says why there is none. */
export function answerable(found: readonly Question[], given: string, answer: PersonAnswer): Question | OrderResult {
  const [question, another] = found;
  if (question === undefined || given === '') return notDone(`No question ${given} is known here.`, 'unknown');
  if (another !== undefined)
    return notDone(`More than one question begins with ${given}: give more of its id.`, 'unknown');
  // Who comes too late is to hear of that, whatever the form.
  if (question.state !== 'open' && !mayTakeBack(question, answer)) return notDone(questionText(question));
  if (question.source === 'sign_in' && answer.decision === 'accept')
    return notDone(`The question ${question.id} is a sign-in: its code is entered on its page, or it is declined.`);
  const wanted = answer.decision === 'accept' ? unfit(question.form, answer.value) : undefined;
  if (wanted === undefined) return question;
  return notDone(`The question ${question.id} takes ${wanted}, or to be declined.`, 'unfit');
}

/** Result for who answered. @param end - of the question. */
export function answerResult(end: { readonly isNew: boolean; readonly question: Question } | undefined): OrderResult {
  if (end === undefined) return notDone('The database cannot be written now: the answer was not taken.');
  const { isNew, question } = end;
  return { ok: isNew && question.state === 'answered', text: questionText(question) };
}
