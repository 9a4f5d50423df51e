import type { RequestOptions } from '../actors/rpc/rpcPeerTypes.ts';
import { AttemptError, type FailureFacts } from '../policy/failure.ts';
import { healthMs } from '../protocol/codex/requests.ts';
import type { CodexConnection } from './codexConnection.ts';
import { unreadable } from './codexLoss.ts';
import type { Questions } from './codexQuestions.ts';
import { ThreadState } from './codexThreadState.ts';
import type { CodexServer } from './codexTypes.ts';

/** A connection that can be used, until it is lost. */
export interface LiveConnection {
  readonly server: CodexServer;
  readonly lost: FailureFacts | undefined;
  readonly healthy: boolean;
  readonly threads: ReadonlyMap<string, ThreadState>;
  readonly questions: Questions;
  /** The state of a thread; made when it is new. */
  thread(id: string): ThreadState;
  /** Rejects with an `AttemptError` whose facts say what is known. */
  request(method: string, params: unknown, options?: RequestOptions): Promise<unknown>;
  /** Why it was lost; of all that end for it the first alone counts for the breaker. */
  loss(): FailureFacts;
  kill(facts: FailureFacts): void;
  /** A request was not answered: an app-server that does not list a thread either is hung, and is killed. Never rejects. */
  suspect(): Promise<void>;
  /** Resolves when it is known whether a suspected one lives; undefined while none is suspected. */
  readonly suspicion: Promise<void> | undefined;
  /** Work that an end in good order waits for. */
  hold(work: Promise<unknown>): void;
}

/** What a connection is made usable with. */
export interface LiveConnectionParts {
  readonly connection: CodexConnection;
  readonly threads: Map<string, ThreadState>;
  readonly questions: Questions;
  /** Work that the end of the connection waits for. */
  readonly busy: Set<Promise<unknown>>;
  readonly interruptMs: number;
}

export function liveConnection(parts: LiveConnectionParts): LiveConnection {
  const { connection, threads, questions, busy, interruptMs } = parts;
  let counted = false;
  let suspicion: Promise<void> | undefined;
  const loss = (): FailureFacts => {
    const facts = connection.lost ?? unreadable;
    if (counted) return { ...facts, breaker: 'ignored' };
    counted = true;
    return facts;
  };
  const askForLife = async (): Promise<void> => {
    try {
      await connection.request('thread/list', { limit: 1 }, { limitMs: healthMs, urgent: true });
    } catch (error) {
      if (error instanceof AttemptError && error.facts.kind === 'timeout') connection.kill(hung);
    }
  };
  return {
    server: connection.server,
    threads,
    questions,
    get lost() {
      return connection.lost;
    },
    get healthy() {
      return connection.healthy;
    },
    thread(id) {
      let thread = threads.get(id);
      if (thread === undefined || thread.closed) {
        const interrupt = (turn: string): void => {
          const params = { threadId: id, turnId: turn };
          connection.request('turn/interrupt', params, { limitMs: interruptMs, urgent: true }).catch(() => undefined);
        };
        thread = new ThreadState(id, interrupt);
        threads.set(id, thread);
      }
      return thread;
    },
    request: (method, params, options) => connection.request(method, params, options),
    loss,
    kill: (facts) => connection.kill(facts),
    suspect() {
      suspicion ??= askForLife().finally(() => {
        suspicion = undefined;
      });
      return suspicion;
    },
    get suspicion() {
      return suspicion;
    },
    hold(work) {
      busy.add(work);
      const release = (): void => void busy.delete(work);
      work.then(release, release);
    },
  };
}

const hung: FailureFacts = {
  kind: 'crash',
  reason: 'hang',
  message: 'Codex answers nothing any more and was killed',
  outcome: 'unknown',
};
