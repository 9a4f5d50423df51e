import { choice } from '../options/optionKeys.ts';
import type { Repetition } from './callRing.ts';

/** Steps against repetition, each with its own count: told to people, told to the agent, refused, ended. */
export const spinningSteps = ['notice', 'tell', 'hold', 'end'] as const;
/** Step against repetition. */
export type SpinningStep = (typeof spinningSteps)[number];

/** What repeats: failures of one call, answers of a declared read, successes of a tool that may act, or one failure whatever the arguments. */
export type SpinningForm = 'failure' | 'read' | 'success' | 'varied';

/** Counts at which equal failures, and equal answers of declared reads, lead to a step; `Infinity`: never. */
export interface StepCounts {
  readonly failures: number;
  readonly reads: number;
}

/** Counts of all steps. */
export type SpinningLimits = Readonly<Record<SpinningStep, StepCounts>>;

const never: StepCounts = { failures: Number.POSITIVE_INFINITY, reads: Number.POSITIVE_INFINITY };

/** Counts of each step where it is taken. Equal successes of a tool that acts come to a notice alone. */
const usual: SpinningLimits = {
  notice: { failures: 4, reads: 4 },
  tell: { failures: 6, reads: 12 },
  hold: { failures: 20, reads: 20 },
  end: { failures: 20, reads: 30 },
};

/** Words by which a place chooses how far it goes; `off`: repetition is not looked for. */
export const spinningChoices = ['off', ...spinningSteps] as const;
/** How far a place goes against repetition: this step and those before it. */
export type SpinningChoice = (typeof spinningChoices)[number];

/** Key of an option that chooses one. */
export const spinningKey = choice(spinningChoices, {
  given: {} as SpinningChoice,
  usually: 'what the code says, else the usual counts of the place',
  help: 'How far it goes against calls that are made and answered alike again and again.',
});

/** Counts of a choice: its step and all before it. */
export function chosenLimits(choice: SpinningChoice): SpinningLimits {
  const last = spinningChoices.indexOf(choice) - 1;
  return spinningSteps.reduce<SpinningLimits>(
    (limits, step, index) => ({ ...limits, [step]: index <= last ? usual[step] : never }),
    usual,
  );
}

/** Counts where nothing is chosen and a whole run or session is ours: nothing is held, equal failures end it. */
export const ownLimits: SpinningLimits = {
  ...chosenLimits('tell'),
  end: { failures: usual.end.failures, reads: never.reads },
};

/** Counts where nothing is chosen and calls of others pass: notices, and a word on equal failures. */
export const passingLimits: SpinningLimits = {
  ...chosenLimits('notice'),
  tell: { failures: usual.tell.failures, reads: never.reads },
};

/** Counts of a choice, if there is one; undefined where repetition is not looked for. */
export const limitsOf = (chosen: SpinningChoice | undefined, usually: SpinningLimits): SpinningLimits | undefined =>
  chosen === undefined ? usually : chosen === 'off' ? undefined : chosenLimits(chosen);

/** Failures for one reason among the last ten calls of a tool that are a repetition, whatever the arguments. */
const variedOfTen = 8;
/** Equal successes that are told of although other things happened in between. */
const seenSuccesses = 8;

/** Verdict on a call. */
export interface Spinning {
  readonly step: SpinningStep;
  readonly form: SpinningForm;
  /** Times that it was asked and answered alike; of the form `varied` failures among the last ten calls of the tool. */
  readonly count: number;
  /** Calls of the cycle: 1 where nothing is in between, at most 5; undefined where it is none. */
  readonly period: number | undefined;
  /** Step that follows, after so many more answers alike. @defaultValue none does */
  readonly next?: { readonly step: SpinningStep; readonly more: number } | undefined;
}

/** Rules that a tool may have: it is polled, or it may repeat. */
export type RepeatRule = 'poll' | 'allowed';

/** Answers ahead of which it is known which step follows. */
const mostAhead = 30;

/** The one decision: what a repetition comes to. Undefined: nothing. */
export function spinning(repetition: Repetition, limits: SpinningLimits, rule?: RepeatRule): Spinning | undefined {
  const { failed, acts, count, seen, period, exact, varied, patient, slow } = repetition;
  if (patient || rule === 'allowed' || (rule === 'poll' && !failed)) return undefined;
  const cycle = period >= 1 && period <= 5 ? period : undefined;
  // Of most calls nothing more is asked.
  if (!failed && acts) {
    if (count < limits.notice.reads && seen < seenSuccesses) return undefined;
    return { step: 'notice', form: 'success', count: Math.max(count, seen), period: cycle };
  }
  // What answers otherwise to the letter may be a clock, or a count of time: it is never refused, as what is polled or slow.
  const isMild = failed ? slow || rule === 'poll' : !exact;
  // Of hold and end the count since the message that is worked on.
  const own = isMild ? Number.NEGATIVE_INFINITY : repetition.own;
  const missing = (each: SpinningStep): number =>
    limits[each][failed ? 'failures' : 'reads'] - (each === 'hold' || each === 'end' ? own : count);
  const stepAfter = (more: number) => spinningSteps.findLast((each) => missing(each) <= more);
  const step = stepAfter(0);
  const verdict = (taken: SpinningStep, form: SpinningForm, times: number): Spinning => {
    const more = form === 'varied' ? Infinity : Math.min(...spinningSteps.map(missing).filter((each) => each > 0));
    const later = more > mostAhead ? undefined : stepAfter(more);
    return { step: taken, form, count: times, period: cycle, next: later && { step: later, more } };
  };
  if (!failed) {
    if (step !== undefined) return verdict(step, 'read', count);
    return seen >= seenSuccesses ? verdict('notice', 'read', seen) : undefined;
  }
  if (step !== undefined && step !== 'notice') return verdict(step, 'failure', count);
  if (varied >= variedOfTen && varied > count)
    return verdict(limits.tell.failures <= varied ? 'tell' : 'notice', 'varied', varied);
  if (step !== undefined || seen >= limits.notice.failures) return verdict('notice', 'failure', Math.max(count, seen));
  return undefined;
}

/** Tells whether an agent is told at this count: at the first, and each time as many more have come. */
export function isToldAt({ form, count }: Spinning, limits: SpinningLimits): boolean {
  const first = limits.tell[form === 'read' ? 'reads' : 'failures'];
  return count % first === 0;
}
