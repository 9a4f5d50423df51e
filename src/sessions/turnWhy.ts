import type { Envelope } from './acceptance.ts';
import type { SessionTurn } from './sessionTurn.ts';
import type { TurnWatch } from './watch.ts';
import { callRule, type QuestionWhy, type RuleWhy, type SessionWhy, watchdogRule, type WatchedCall } from './why.ts';

/** A turn that has begun. */
export interface TurnUnderWay {
  readonly turn: SessionTurn;
  readonly envelope: Pick<Envelope, 'id' | 'message' | 'acceptedAt'>;
  readonly watch: TurnWatch;
  readonly startedAt: number;
  /** Time when it was told to end; undefined where it was not. */
  readonly cutAt: number | undefined;
}

/** Tells what the turn under way waits for. @param releaseMs - how long one that was told to end may take. */
export function whyTurn(
  running: TurnUnderWay | undefined,
  now: number,
  releaseMs: number,
): Pick<SessionWhy, 'turn' | 'calls' | 'ended' | 'questions' | 'rules' | 'next'> {
  if (running === undefined) return { calls: [], questions: [], rules: [] };
  const { turn, envelope, startedAt } = running;
  const calls = turn.calls.pending();
  const questions = turn.questions.pending();
  const rules = rulesOf(running, { calls, questions, now, releaseMs });
  return {
    turn: {
      turn: turn.number,
      message: envelope.id,
      kind: envelope.message.kind,
      delivery: turn.delivery,
      sinceMs: now - startedAt,
      waitedMs: startedAt - envelope.acceptedAt,
    },
    ended: turn.calls.ended(),
    calls: calls.map(({ call }) => call),
    questions,
    rules,
    next: rules[0],
  };
}

interface Waits {
  readonly calls: readonly WatchedCall[];
  readonly questions: readonly QuestionWhy[];
  readonly now: number;
  readonly releaseMs: number;
}

function rulesOf(
  { turn, watch, cutAt }: TurnUnderWay,
  { calls, questions, now, releaseMs }: Waits,
): readonly RuleWhy[] {
  // Its calls and questions have ended with it.
  if (cutAt !== undefined) {
    const what = `turn ${turn.number}`;
    return [{ id: `turn-${turn.number}:release`, rule: 'release', inMs: Math.max(0, cutAt + releaseMs - now), what }];
  }
  const rules: RuleWhy[] = [
    ...calls.flatMap((call) => rulesOfCall(call)),
    ...questions.flatMap(({ question: id, what, deadlineInMs: inMs }) =>
      inMs === undefined ? [] : [{ id, rule: 'question' as const, inMs, what }],
    ),
  ];
  // Calls and questions have limits of their own; the turn's counts only while there are none.
  if (rules.length === 0 && calls.length === 0) {
    const what = `turn ${turn.number}`;
    rules.push({ id: `turn-${turn.number}`, rule: 'turn', inMs: watch.inMs(now), what });
  }
  // The inner limit names the reason where two tie, as it does when they fire.
  return rules.toSorted((one, other) => one.inMs - other.inMs);
}

function rulesOfCall({ call: { call, tool: what, progress }, watchdogInMs }: WatchedCall): readonly RuleWhy[] {
  if (watchdogInMs === undefined) return [];
  const watchdog = { id: watchdogRule(call), rule: 'tool_call' as const, inMs: watchdogInMs, what, call };
  // A rule that comes after the watchdog comes never.
  if (progress === undefined || progress.next.inMs > watchdogInMs) return [watchdog];
  return [{ ...progress.next, id: callRule(call, progress.next.id), what, call }, watchdog];
}
