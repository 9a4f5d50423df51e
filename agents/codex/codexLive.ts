import type { RequestOptions } from './rpc/pendingRequest.ts';
import { say } from '../../src/policy/text/face.ts';
import { AttemptError, type FailureFacts } from '../../src/policy/failures/face.ts';
import type { TurnName } from './protocol/begunCommands.ts';
import { healthMs } from './protocol/requests.ts';
import type { CodexLink } from './codexLink.ts';
import { unreadable } from './codexLoss.ts';
import type { Questions, RunScope } from './codexQuestions.ts';
import { ThreadState } from './codexThreadState.ts';
import { commandsLeft, endCommands } from './codexTurnCommands.ts';
import type { CodexServer } from './codexTypes.ts';

/** A connection that can be used, until it is lost. */
export class LiveConnection {
  readonly server: CodexServer;
  readonly questions: Questions;
  readonly #link: CodexLink;
  readonly #scope: RunScope;
  #counted = false;
  #suspicion: Promise<void> | undefined = undefined;

  constructor(link: CodexLink, server: CodexServer, questions: Questions, scope: RunScope) {
    this.server = server;
    this.questions = questions;
    this.#link = link;
    this.#scope = scope;
  }

  get lost(): FailureFacts | undefined {
    return this.#link.lost;
  }

  get healthy(): boolean {
    return this.#link.healthy;
  }

  get threads(): ReadonlyMap<string, ThreadState> {
    return this.#scope.threads;
  }

  /** Resolves when it is known whether a suspected one lives; undefined while none is suspected. */
  get suspicion(): Promise<void> | undefined {
    return this.#suspicion;
  }

  /** The state of a thread; made when it is new. */
  thread(id: string): ThreadState {
    const { threads } = this.#scope;
    const known = threads.get(id);
    if (known !== undefined && !known.closed) return known;
    const made = new ThreadState(id, (turn) => {
      this.hold(this.#interrupt({ thread: id, turn }).then(() => this.endCommands(id, turn)));
    });
    threads.set(id, made);
    return made;
  }

  /** Rejects with an `AttemptError` whose facts say what is known. */
  request(method: string, params: unknown, options?: RequestOptions): Promise<unknown> {
    return this.#link.request(method, params, options);
  }

  /** Why it was lost; of all that end for it the first alone counts for the breaker. */
  loss(): FailureFacts {
    const facts = this.lost ?? unreadable;
    if (this.#counted) return { ...facts, breaker: 'ignored' };
    this.#counted = true;
    return facts;
  }

  kill(facts: FailureFacts): void {
    this.#link.hung(facts);
  }

  /** A request was not answered: an app-server that does not list a thread either is hung, and is killed. Never rejects. */
  suspect(): Promise<void> {
    this.#suspicion ??= this.#askForLife().finally(() => {
      this.#suspicion = undefined;
    });
    return this.#suspicion;
  }

  /** Work that an end in good order waits for. */
  hold(work: Promise<unknown>): void {
    const { busy } = this.#scope;
    busy.add(work);
    const release = (): void => void busy.delete(work);
    work.then(release, release);
  }

  /**
   * Ends the commands that a turn began, and the sub-agents it set to work with theirs. Never rejects.
   * @returns the commands that could not be ended.
   */
  async endCommands(thread: string, turn: string): Promise<readonly string[]> {
    const { begun, codex, telemetry } = this.#scope;
    const { settings, runtime, logger, name } = codex;
    await Promise.all(begun.of(thread, turn).turns.map((each) => this.#interrupt(each)));
    if (this.lost !== undefined) return [];
    const { ended, left } = await endCommands({
      work: begun.of(thread, turn),
      clock: runtime.clock,
      pid: this.server.pid,
      experimentalApi: settings.experimentalApi,
      request: (method, params) => this.#request(method, params),
    });
    // With the app-server all its commands went.
    if (this.lost !== undefined || (ended.length === 0 && left.length === 0)) return [];
    telemetry.commandsEnded({ thread, turn }, { ended, left });
    if (left.length > 0) say(logger, 'warn', `A turn of ${name} was given up; ${commandsLeft(left)}`, { thread, turn });
    return left;
  }

  async #interrupt({ thread, turn }: TurnName): Promise<void> {
    await this.#request('turn/interrupt', { threadId: thread, turnId: turn }).catch(() => undefined);
  }

  #request(method: string, params: Readonly<Record<string, unknown>>): Promise<unknown> {
    return this.request(method, params, { limitMs: this.#scope.codex.settings.interruptMs, urgent: true });
  }

  async #askForLife(): Promise<void> {
    try {
      await this.request('thread/list', { limit: 1 }, { limitMs: healthMs, urgent: true });
    } catch (error) {
      if (error instanceof AttemptError && error.facts.kind === 'timeout') this.kill(hung);
    }
  }
}

const hung: FailureFacts = {
  kind: 'crash',
  reason: 'hang',
  message: 'Codex answers nothing any more and was killed',
  outcome: 'unknown',
};
