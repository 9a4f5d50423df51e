import { withoutValues } from '../../../src/actors/process/face.ts';
import type { AttemptContext } from '../../../src/calls/face.ts';
import type { Clock, Timer } from '../../../src/policy/face.ts';
import { AttemptError, type FailureFacts } from '../../../src/policy/failures/face.ts';
import {
  type AgentCalls,
  claudeRetriesName,
  claudeSign,
  createClaudeReader,
  createRetryLife,
  mayRetryItself,
  recordIn,
  textIn,
} from '../../../src/protocol/face.ts';
import type { Sink } from '../agentStream.ts';
import type { AgentUsage } from '../agentTypes.ts';
import type { SdkMessage, SdkOptions, SdkQueryFunction, SdkUserMessage } from './agentSdkTypes.ts';
import type { Approver } from '../../../src/integrations/approvals/face.ts';
import type { Runtime } from '../../../src/runtime/face.ts';
import type { AskingTurn } from './claudeApprovals.ts';
import { createClaudeEvents } from './claudeEvents.ts';
import type { ClaudeLink, LinkEnd } from './claudeLink.ts';
import type { ClaudeSettings } from './claudeBackendOptions.ts';
import { answersPrompt, lossFacts, type TurnTrail, usageIn } from './claudeTurn.ts';

/** Scope that all conversations of an agent have in common. */
export interface ClaudeScope {
  readonly runtime: Runtime;
  readonly agent: string;
  readonly settings: ClaudeSettings;
  readonly query: () => Promise<SdkQueryFunction>;
  /** Returns the options of every query; with the environment. */
  readonly options: () => SdkOptions;
  /** Variables that it is given of its own: what they hold is in no message. */
  readonly given: Readonly<Record<string, string | undefined>>;
  /** Absent when nobody is to be asked: Claude then declines by itself. */
  readonly approver: Approver | undefined;
  readonly processId: () => string;
}

/** The turn that a query works on. */
export interface RunningTurn extends AskingTurn {
  take(message: SdkMessage): void;
  /** The query gives no more messages. */
  lost(end: LinkEnd): void;
}

/** Answer of Claude. */
interface ClaudeAnswer {
  readonly text: string;
  readonly usage: AgentUsage | undefined;
  readonly calls: AgentCalls | undefined;
}

/** A prompt that a query is to answer. */
interface AskedTurn {
  readonly link: ClaudeLink;
  readonly message: SdkUserMessage;
  readonly trail: TurnTrail;
  readonly sink: Sink;
  readonly context: AttemptContext;
}

/** The conversation that a turn is of. */
interface TurnOwner {
  /** Told of the turn before anything is said to the query. */
  began(turn: RunningTurn): void;
  /** Adds all that is known of a failure besides what was said. */
  amend(facts: FailureFacts): FailureFacts;
  /**
   * Ends a turn that was given up; resolves when nothing of it goes on.
   * @param obeyed - resolves when Claude has ended it.
   */
  giveUp(obeyed: Promise<void>): Promise<void>;
  /** Told when it is over, however; it hears nothing any more. */
  ended(): void;
}

/** Says a prompt to a query and hears it out, once: whatever else comes, the first end counts. */
export function runTurn(scope: ClaudeScope, asked: AskedTurn, owner: TurnOwner): Promise<ClaudeAnswer> {
  const { link, message, trail, sink, context } = asked;
  const { clock } = scope.runtime;
  const { signal } = context;
  const life = createClaudeLife(clock, context, scope.settings.retryLifeMs);
  const tell = createClaudeEvents(sink);
  const retriesItself = mayRetryItself(textIn(recordIn(scope.options()['env'])?.[claudeRetriesName]));
  const reader = createClaudeReader({ isStream: true, retriesItself, ear: trail.ear });
  trail.attempts.begin(reader);

  return new Promise((resolve, reject) => {
    let over = false;
    let released: () => void = () => undefined;
    const obeyed = new Promise<void>((done) => {
      released = done;
    });
    const settle = (how: () => void): void => {
      if (over) return;
      over = true;
      life.stop();
      signal.removeEventListener('abort', abort);
      owner.ended();
      how();
    };
    const fail = (told: FailureFacts): void => {
      const facts = withoutValues(told, scope.given);
      trail.lastFailure = facts.message;
      settle(() => reject(new AttemptError(owner.amend(facts))));
    };
    const conclude = (result: SdkMessage): void => {
      const { failure, text = '', calls } = reader.report(clock.wallNow());
      if (failure !== undefined) fail(failure);
      else settle(() => resolve({ text, usage: usageIn(result), calls }));
    };
    const abort = (): void => {
      void owner.giveUp(obeyed).then(() => settle(() => reject(reasonOf(signal))));
    };
    const turn: RunningTurn = {
      sink,
      signal,
      waitForPerson: () => life.waitForPerson(),
      take(heard) {
        if (heard['type'] === 'result' && !answersPrompt(heard, message)) return;
        life.heard(heard);
        reader.take(heard);
        tell(heard);
        if (heard['type'] !== 'result') return;
        trail.heardBy = link;
        // A turn that ends because it was told to is concluded there.
        if (signal.aborted) released();
        else conclude(heard);
      },
      lost(end) {
        if (signal.aborted) released();
        else fail(lossFacts(end, clock.wallNow()));
      },
    };
    owner.began(turn);
    signal.addEventListener('abort', abort, { once: true });
    // It may have ended while it was waited for.
    if (link.isOpen) link.send(message);
    else void link.ended.then((end) => turn.lost(end));
  });
}

/** Returns the reason that ended the attempt; one of the caller's own may be anything. */
function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

type Life = Pick<AttemptContext, 'touch' | 'extend'>;

/** Time in ms between notes that a person is being waited for; far below any idle limit that makes sense. */
const personMs = 1000;

/**
 * The signs of life of one turn.
 * Every message that gets on is a sign of life; pings are none. Announced retries (`api_retry`) are for as long as `retryLifeMs` after the last other one: Claude
 * may be told to retry for hours, and is as good as silent then.
 */
function createClaudeLife(clock: Clock, { touch, extend = touch }: Life, retryLifeMs: number) {
  const heard = createRetryLife(clock, touch, retryLifeMs);
  let waiting = 0;
  let timer: Timer | undefined;

  const again = (): void => {
    extend(personMs);
    timer = clock.setTimeout(again, personMs);
  };
  const stop = (): void => {
    clock.clearTimeout(timer);
    timer = undefined;
  };

  return {
    /** A message came. */
    heard: (message: SdkMessage) => heard(claudeSign(message)),
    /** A person is asked: until the returned release nobody expects Claude to say anything. */
    waitForPerson(): () => void {
      if (++waiting === 1) again();
      let released = false;
      return () => {
        if (released) return;
        released = true;
        heard('progress');
        if (--waiting === 0) stop();
      };
    },
    stop,
  };
}
