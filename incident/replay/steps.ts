import type { Incident } from '../incident.ts';
import type { Fact } from '../../src/policy/facts/face.ts';
import { toleranceMs, type ReplayStep } from './compare.ts';
import type { IntegrationPlan, PlannedCall } from './plan.ts';
import type { ReplayedIntegration } from './replayedIntegration.ts';
import { type SessionPlan, textOf } from './sessionPlan.ts';

/** Most that a timer may have come up late on the machine of the record, in ms. */
const latestMs = 20;

/** A fact that was told in the replay, in ms from its begin. */
export interface Heard {
  readonly at: number;
  readonly fact: Fact;
}

/** Subjects of changes, and up to when they are known. */
interface Known {
  readonly plans: readonly IntegrationPlan[];
  readonly session: SessionPlan | undefined;
  /** Time of the last record, in ms from the begin. */
  readonly until: number;
}

const attemptsText = (attempts: number): string => (attempts === 1 ? '1 attempt' : `${attempts} attempts`);

/** Lists what is on record of calls, circuits and turns, as far as all of it is known. */
export function recordedSteps(incident: Incident, known: Known, origin: number): readonly ReplayStep[] {
  const calls = known.plans.flatMap(({ name, until, calls: own }) =>
    own.flatMap((call) => recordedCall(name, call, until)),
  );
  const events = incident.events.flatMap(({ at, category, type, metadata }): ReplayStep[] => {
    const told = { category, type, ...metadata } as Readonly<Record<string, unknown>>;
    return stepOf(told, at - origin, known, 0);
  });
  return [...calls, ...events];
}

/** The same of the replay. */
export function replayedSteps(
  integrations: ReadonlyMap<string, ReplayedIntegration>,
  known: Known,
  heard: readonly Heard[],
): readonly ReplayStep[] {
  const calls = [...integrations.values()].flatMap(({ plan, ends, calls: rows, attemptsAtHalt }) =>
    plan.calls.map(({ number }): ReplayStep => {
      const of = `${plan.name}-${number}`;
      const end = ends.get(number);
      const attempts = attemptsAtHalt?.get(number) ?? rows.get(number)?.attempts ?? 0;
      if (end === undefined) return { of, what: `under way, ${attemptsText(attempts)}`, atMs: plan.until };
      const { outcome } = end;
      const fellBack = outcome.ok && rows.get(number)?.failed === true;
      const kind = outcome.ok ? rows.get(number)?.progress.lastFailure?.kind : outcome.failure.kind;
      const what = fellBack ? 'fell_back' : outcome.ok ? 'answered' : attempts === 0 ? 'refused' : 'failed';
      return { of, what: endText(what, kind, attempts), atMs: end.at };
    }),
  );
  const changes = heard.flatMap(({ at, fact }): ReplayStep[] => {
    const [category, type] = fact.type.split('.');
    return stepOf({ ...fact, category, type }, at, known, latestMs);
  });
  return [...calls, ...changes];
}

function recordedCall(
  name: string,
  { number, attempts, end, isPending, pendingAt }: PlannedCall,
  until: number,
): ReplayStep[] {
  const of = `${name}-${number}`;
  const last = [...attempts].at(-1);
  if (end !== undefined) {
    const what = end.end === 'failed' && end.attempts === 0 ? 'refused' : end.end;
    return [{ of, what: endText(what, end.failure.kind, end.attempts), atMs: end.at }];
  }
  if (!isPending && last !== undefined)
    return [{ of, what: endText('answered', undefined, last[0]), atMs: last[1].endedAt }];
  // It did not wait for another attempt and was never under way afterwards: that failure was its end, though nobody wrote it down.
  const failure = last?.[1].delayMs === undefined ? last?.[1].failure : undefined;
  if (pendingAt === undefined && last !== undefined && failure !== undefined)
    return [{ of, what: endText('failed', failure.kind, last[0]), atMs: last[1].endedAt }];
  // A call that was under way in an earlier record has ended since, and nobody knows how.
  if (pendingAt === undefined || pendingAt < until - 1) return [];
  return [{ of, what: `under way, ${attemptsText(last?.[0] ?? 0)}`, atMs: until }];
}

function endText(what: string, kind: string | undefined, attempts: number): string {
  const why = what === 'answered' || kind === undefined ? '' : `: ${kind}`;
  return `${what}${why}, ${attemptsText(attempts)}`;
}

/**
 * A change of a circuit, a turn or a watchdog; facts and stored events have the same names.
 * @param lateMs - how much later it may have come when it was recorded.
 */
function stepOf(
  { category, type, ...told }: Readonly<Record<string, unknown>>,
  atMs: number,
  { plans, session, until }: Known,
  lateMs: number,
): ReplayStep[] {
  const stepAt = (of: string, what: string, end: number): ReplayStep[] => [
    { of, what, atMs, ...(atMs + lateMs > end && { isAfterEnd: true }) },
  ];
  if (category === 'breaker' && (type === 'opened' || type === 'half_opened' || type === 'closed')) {
    const plan = plans.find(({ name }) => name === told['integration']);
    if (plan === undefined || plan.isShared || atMs < plan.from - 1 || atMs > plan.until + toleranceMs) return [];
    const tool = typeof told['tool'] === 'string' ? `, ${told['tool']}` : '';
    const kind = type === 'opened' && typeof told['kind'] === 'string' ? `: ${told['kind']}` : '';
    return stepAt(`circuit of ${plan.name}${tool}`, `${type}${kind}`, plan.until);
  }
  if (category !== 'session' || session === undefined || told['session'] !== session.id) return [];
  const known = session.turns.some(({ number }) => number === told['turn']);
  if (!known && type !== 'watchdog_fired') return [];
  const of = `session ${session.id}`;
  if (type === 'turn_ended') return stepAt(of, `turn ended ${told['ok'] === true ? 'well' : 'badly'}`, until);
  if (type === 'watchdog_fired') return stepAt(of, `watchdog fired: ${textOf(told['rule'])}`, until);
  return [];
}
