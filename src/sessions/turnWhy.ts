import type { Envelope } from './acceptance.ts';
import type { SessionTurn } from './sessionTurn.ts';
import type { TurnWatch } from './watch.ts';
import type { SessionWhy } from './why.ts';

/** A turn that has begun. */
export interface TurnUnderWay {
  readonly turn: SessionTurn;
  readonly envelope: Pick<Envelope, 'id' | 'message' | 'acceptedAt'>;
  readonly watch: TurnWatch;
  readonly startedAt: number;
}

/** What the turn under way waits for. */
export function whyTurn(
  running: TurnUnderWay | undefined,
  now: number,
): Pick<SessionWhy, 'turn' | 'calls' | 'ended' | 'questions' | 'next'> {
  if (running === undefined) return { calls: [], questions: [] };
  const { turn, envelope, watch, startedAt } = running;
  const calls = turn.pendingCalls();
  const questions = turn.pendingQuestions();
  const rules: NonNullable<SessionWhy['next']>[] = [
    ...calls.flatMap(({ call: { tool: what, progress }, watchdogInMs }) => [
      ...(progress === undefined ? [] : [{ ...progress.next, what }]),
      { rule: 'tool_call' as const, inMs: watchdogInMs, what },
    ]),
    ...questions.map(({ what, deadlineInMs }) => ({ rule: 'question' as const, inMs: deadlineInMs, what })),
  ];
  // Calls and questions have limits of their own; the turn's counts only while there are none.
  if (rules.length === 0) rules.push({ rule: 'turn', inMs: watch.inMs(now), what: `turn ${turn.number}` });
  return {
    turn: {
      turn: turn.number,
      message: envelope.id,
      kind: envelope.message.kind,
      delivery: turn.delivery,
      sinceMs: now - startedAt,
      waitedMs: startedAt - envelope.acceptedAt,
    },
    ended: turn.endedCalls(),
    calls: calls.map(({ call }) => call),
    questions,
    next: rules.reduce((first, rule) => (rule.inMs < first.inMs ? rule : first)),
  };
}
