import type { BoundedStream } from '../actors/rpc/rpcPeerStream.ts';
import type { AttemptContext } from '../calls/operation.ts';
import type { Clock } from '../policy/clock.ts';
import { RpcResponseError } from '../actors/rpc/rpcPeerErrors.ts';
import { AttemptError, type FailureFacts } from '../policy/failure.ts';
import { recordIn, textIn } from '../protocol/agentReport.ts';
import { requestLimitMs } from '../protocol/codex/requests.ts';
import { turnFailure, turnInterrupted } from '../protocol/codex/turnFailure.ts';
import { RunningTurn, type TurnEnd } from './codexRunningTurn.ts';
import type { LiveConnection } from './codexLive.ts';
import type { ThreadState } from './codexThreadState.ts';
import type { CodexTurnEvent, CodexTurnResult } from './codexTypes.ts';

/** One turn to be run. */
export interface TurnWork {
  readonly live: LiveConnection;
  readonly thread: ThreadState;
  /** Of `turn/start`. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly stream: BoundedStream<CodexTurnEvent>;
  readonly idleMs: number;
  readonly interruptMs: number;
  readonly clock: Clock;
  /** Told of the turn once it is begun. */
  readonly onBegin: (turn: RunningTurn) => void;
}

/**
 * Runs one turn: its end, the end of its process and the end of its call race. A turn that is given up is interrupted; an
 * app-server that does not let go of it is killed. Rejects with an {@link AttemptError}.
 */
export async function runTurn(work: TurnWork, context: AttemptContext): Promise<CodexTurnResult> {
  const { live, thread, clock, stream, idleMs } = work;
  const { obstacle } = thread;
  if (obstacle !== undefined) throw new AttemptError(obstacle);
  const turn = new RunningTurn({ clock, stream, touch: context.touch, idleMs });
  thread.turn = turn;
  thread.unwanted = false;
  work.onBegin(turn);
  const running = race(work, turn, context);
  live.hold(running);
  try {
    return await running;
  } finally {
    turn.finish({ how: 'silent' });
    live.questions.turnEnded(turn);
    thread.turn = undefined;
  }
}

async function race(work: TurnWork, turn: RunningTurn, { signal }: AttemptContext): Promise<CodexTurnResult> {
  const { live, thread, clock } = work;
  const aborted = new Promise<'aborted'>((resolve) => {
    if (signal.aborted) resolve('aborted');
    signal.addEventListener('abort', () => resolve('aborted'), { once: true });
  });
  const begun = begin(work, turn);
  const first = await Promise.race([begun, turn.ended, aborted]);
  if (first === 'aborted') return letGo(work, turn, begun);
  if ('refused' in first) throw refusedTurn(work, turn, first.refused);
  const end = 'how' in first ? first : await Promise.race([turn.ended, aborted]);
  if (end === 'aborted') return letGo(work, turn, begun);
  return concluded(turn, end, live, thread, clock);
}

interface Refused {
  readonly refused: unknown;
}
type Begun = { readonly begun: true } | Refused;

/** Sends the input, once. Never rejects. */
async function begin({ live, params, idleMs }: TurnWork, turn: RunningTurn): Promise<Begun> {
  const limitMs = requestLimitMs('turn/start');
  // Of two limits that tie, the inner one says more.
  const release = idleMs < limitMs ? undefined : turn.hold();
  try {
    const result = await live.request('turn/start', params, { limitMs });
    const id = textIn(recordIn(recordIn(result)?.['turn'])?.['id']);
    if (id !== undefined) turn.nameIt(id);
    return { begun: true };
  } catch (error) {
    return { refused: error };
  } finally {
    release?.();
  }
}

/** The input may have been taken although its answer did not come: the thread takes no other until that is known. */
function refusedTurn({ live, thread }: TurnWork, turn: RunningTurn, error: unknown): unknown {
  if (live.lost !== undefined) return new AttemptError(live.loss());
  if (error instanceof AttemptError && error.facts.kind === 'timeout') {
    thread.unclear = turn;
    void live.suspect();
  }
  return error;
}

function concluded(
  turn: RunningTurn,
  end: TurnEnd,
  live: LiveConnection,
  thread: ThreadState,
  clock: Clock,
): CodexTurnResult {
  const { effects } = turn;
  if (end.how === 'lost') throw new AttemptError(live.loss());
  if (end.how === 'silent') {
    thread.active = undefined;
    throw new AttemptError(endUntold);
  }
  switch (end.status) {
    case 'completed': {
      const { text, tokens, items, retries } = turn;
      return { thread: thread.id, turn: turn.id ?? '', text, tokens, items, effects, retries };
    }
    case 'interrupted':
      throw new AttemptError(turnInterrupted(effects));
    default:
      throw new AttemptError(turnFailure(end.error, effects, clock.wallNow()));
  }
}

/** Its call is over: has Codex end the turn, and kills it where it does not. */
async function letGo(work: TurnWork, turn: RunningTurn, begun: Promise<Begun>): Promise<CodexTurnResult> {
  const { live, thread, clock, interruptMs } = work;
  let expire: () => void = () => undefined;
  const expired = new Promise<'expired'>((resolve) => {
    expire = () => resolve('expired');
  });
  const timer = clock.setTimeout(() => clock.nextTurn(expire), interruptMs, { ref: true, running: true });
  try {
    const named = turn.named.then(() => 'named' as const);
    const answered = begun.then<'named' | Refused>((it) => ('refused' in it ? it : named));
    const known = await Promise.race([named, turn.ended, expired, answered]);
    if (known === 'expired') {
      thread.unclear = turn;
      thread.unwanted = true;
      void begun.then((late) => {
        if ('refused' in late && wasRefused(late.refused)) thread.refused(turn);
      });
      void live.suspect();
      throw new AttemptError(given);
    }
    if (known !== 'named') {
      if ('refused' in known) throw refusedTurn(work, turn, known.refused);
      return lateEnd(turn, known, work);
    }
    let isUnknown = false;
    live
      .request('turn/interrupt', { threadId: thread.id, turnId: turn.id }, { limitMs: interruptMs, urgent: true })
      .catch((error: unknown) => {
        // It has just ended, and its end is on its way or was lost.
        isUnknown = wasRefused(error);
      });
    const end = await Promise.race([turn.ended, expired]);
    if (end !== 'expired') return lateEnd(turn, end, work);
    if (isUnknown) {
      if (thread.active === turn.id) thread.active = undefined;
      throw new AttemptError(given);
    }
    live.kill({
      kind: 'crash',
      reason: 'hang',
      message: `Codex did not let go of an interrupted turn within ${interruptMs} ms and was killed`,
      outcome: 'unknown',
    });
    throw new AttemptError(given);
  } finally {
    clock.clearTimeout(timer);
  }
}

/** Whether Codex answered that it does not do what was asked. */
function wasRefused(error: unknown): boolean {
  if (!(error instanceof AttemptError)) return false;
  return error.facts.cause instanceof RpcResponseError && error.facts.outcome !== 'unknown';
}

/** A loss is counted by a call that still waits. */
function lateEnd(turn: RunningTurn, end: TurnEnd, { live, thread, clock }: TurnWork): CodexTurnResult {
  if (end.how === 'lost') throw new AttemptError(given);
  return concluded(turn, end, live, thread, clock);
}

const given: FailureFacts = { kind: 'cancelled', message: 'The turn was given up', outcome: 'cancelled' };

const endUntold: FailureFacts = {
  kind: 'protocol',
  message: 'Codex says that the thread is idle, and not how its turn ended',
  outcome: 'unknown',
};
