import type { AnyActorRef } from 'xstate';
import { errorChain, longestMessage } from '../policy/failures/errorChain.ts';
import type { FactOf } from '../policy/facts/facts.ts';
import { messageOf, stackOf } from '../policy/failures/thrown.ts';
import type { Exit } from './exit.ts';
import { type Child, type Supervision, guard, tell } from './supervision.ts';
import { machineStateOf } from './tree.ts';

/** An incarnation that is over. */
export interface Death {
  readonly exit: Exit;
  /** Undefined when there was nothing to create. */
  readonly ref: AnyActorRef | undefined;
  /** True where it ended before its start was over. */
  readonly inStart: boolean;
}

export type Crash = FactOf<'child.crashed'>;

/** Outlook on what happens next. */
export type Outlook = Pick<Crash, 'next' | 'nextRestartInMs'>;

/** Longest event type in a report, in characters. */
const longestType = 100;

/** Findings on an incarnation that failed, before it is decided what happens next. */
export type Findings = Omit<Crash, keyof Outlook>;

/**
 * Looks at a failed incarnation before anything is decided: the spec's `details` are the user's code, and may stop or restart the child.
 * Undefined when it did not fail, or when nobody listens. Of the last event it carries the type alone, and no context of a machine: both
 * may hold secrets.
 */
export function examine(supervision: Supervision, child: Child, death: Death): Findings | undefined {
  const { surroundings, path } = supervision;
  if (death.exit.reason !== 'failure') return undefined;
  if (guard(surroundings, 'child.crashed', () => surroundings.facts?.wants('child.crashed')) !== true) return undefined;
  const { spec, lastEvent } = child;
  const { ref } = death;
  const { error } = death.exit;
  const causes = causesOf(error);
  const machineState = ref === undefined ? undefined : machineStateOf(ref);
  const details = ref === undefined ? undefined : guard(surroundings, 'details', () => spec.details?.(ref));
  return {
    type: 'child.crashed',
    child: spec.id,
    path: [...path, spec.id],
    incarnation: child.incarnation,
    elapsedMs: surroundings.clock.now() - child.startedAt,
    error: messageOf(error),
    stack: stackOf(error),
    ...(causes.length > 0 && { causes }),
    ...(machineState !== undefined && { machineState }),
    ...(lastEvent !== undefined && { lastEvent: lastEvent.slice(0, longestType) }),
    queued: child.held?.length ?? 0,
    restarts: child.restarts,
    ...(details !== undefined && { details }),
  };
}

/** The report on an incarnation that failed, where there are findings. */
export function crashReport(findings: Findings | undefined, outlook: Outlook): Crash | undefined {
  return findings === undefined ? undefined : { ...findings, ...outlook };
}

/** Tells a report, where there is one. */
export function tellCrash({ surroundings }: Supervision, crash: Crash | undefined): void {
  if (crash !== undefined) tell(surroundings, crash);
}

/** Lists what is behind an error, nearest first: its causes, and the errors of an aggregate. */
function causesOf(error: unknown): string[] {
  return errorChain(error)
    .slice(1)
    .map((cause) => `${nameOf(cause)}${messageOf(cause)}`.slice(0, longestMessage));
}

function nameOf(error: unknown): string {
  return error instanceof Error && error.name !== 'Error' ? `${error.name}: ` : '';
}
