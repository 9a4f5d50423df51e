import type { McpRelay } from '../wire/mcpRelay.ts';
import type { Clock, Timer } from '../../src/policy/face.ts';
import { AttemptError, type FailureFacts } from '../../src/policy/failures/face.ts';
import { requestLine } from '../../src/protocol/face.ts';
import { type McpAnswer, type McpParams, idKey } from '../../src/protocol/mcp/face.ts';

/** A request of ours that the agent has not answered. */
interface Own {
  readonly method: string;
  resolve(result: McpParams): void;
  reject(error: Error): void;
  timer: Timer | undefined;
}

/** Incarnation of the agent: its pipe, and the requests that we make of it ourselves to bring it to where the last one was. */
export class AgentLink {
  readonly relay: McpRelay;
  /** From 1, one more for each incarnation. */
  readonly number: number;
  /** True once it may be asked what the client asks. */
  isReady = false;
  readonly #clock: Clock;
  readonly #nextId: () => string;
  readonly #own = new Map<string, Own>();
  /** Resolves when it can no longer be used. */
  readonly gone: Promise<void>;
  #isGone = (): void => undefined;

  constructor(relay: McpRelay, number: number, clock: Clock, nextId: () => string) {
    this.relay = relay;
    this.number = number;
    this.#clock = clock;
    this.#nextId = nextId;
    this.gone = new Promise((resolve) => (this.#isGone = resolve));
  }

  /**
   * Asks the agent. Rejects with {@link AttemptError}: `permanent` where it refuses, `timeout` after the limit, the loss where it dies.
   * @param limitMs - in ms above 0.
   */
  ask(method: string, params: McpParams, limitMs: number): Promise<McpParams> {
    const id = this.#nextId();
    const key = idKey(id) ?? '';
    return new Promise((resolve, reject) => {
      const own: Own = { method, resolve, reject, timer: undefined };
      own.timer = this.#clock.setTimeout(() => this.#expired(key, own, limitMs), limitMs, { running: true });
      this.#own.set(key, own);
      if (this.relay.write(requestLine(id, method, params))) return;
      this.#end(key, own);
      reject(new AttemptError(noInput));
    });
  }

  /** Takes an answer where it is to a request of ours. @returns whether it is. */
  answered({ key, result, error }: McpAnswer): boolean {
    const own = key === undefined ? undefined : this.#own.get(key);
    if (key === undefined || own === undefined) return false;
    this.#end(key, own);
    if (result !== undefined) own.resolve(result);
    else {
      const reason = error?.['message'];
      const message = `${own.method} was refused: ${typeof reason === 'string' ? reason : 'without a reason'}`;
      own.reject(new AttemptError({ kind: 'permanent', message, outcome: 'not_started' }));
    }
    return true;
  }

  /** The agent is gone: none of its answers will come. */
  lost(facts: FailureFacts): void {
    this.#isGone();
    for (const [key, own] of [...this.#own]) {
      this.#end(key, own);
      own.reject(new AttemptError({ ...facts, outcome: 'not_started' }));
    }
  }

  #expired(key: string, own: Own, limitMs: number): void {
    this.#end(key, own);
    const message = `No answer to ${own.method} within ${Math.round(limitMs / 1000)}s`;
    own.reject(new AttemptError({ kind: 'timeout', reason: 'init_timeout', message, outcome: 'not_started' }));
  }

  #end(key: string, own: Own): void {
    this.#own.delete(key);
    this.#clock.clearTimeout(own.timer);
  }
}

const noInput: FailureFacts = {
  kind: 'crash',
  reason: 'connection_lost',
  message: 'The agent takes no more input',
  outcome: 'not_started',
};
