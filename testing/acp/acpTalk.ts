import { type Clock, inTime } from '../../src/policy/face.ts';
import { isConversation } from '../../src/protocol/acp/face.ts';
import type { RpcId } from '../../src/protocol/face.ts';
import { type AcpParams, type AcpPipes, type AcpReply, AcpWire } from './acpWire.ts';

/** A running agent that is checked. */
export interface CheckedAgent extends AcpPipes {
  /** Resolves once it has exited, with how, as a text. */
  readonly exited: Promise<string>;
  /** The ids of the processes that it started. */
  family(): Promise<readonly number[]>;
  /** Ends it, and what it started. */
  kill(): Promise<void>;
}

/** Reply with the time that it took; `isLate` where there was none within the limit. */
export interface TimedReply extends AcpReply {
  readonly isLate?: true;
  readonly ms: number;
}

/** An update as it came. */
interface SeenUpdate {
  readonly session: string;
  readonly kind: string;
  readonly text: string;
}

/** A conversation with an agent in which every wait has a limit. Permissions are rejected. */
export class AcpTalk {
  readonly agent: CheckedAgent;
  readonly wire: AcpWire;
  readonly updates: SeenUpdate[] = [];
  /** Kinds of updates of a turn that came after its answer. */
  readonly late: string[] = [];
  readonly #clock: Clock;
  /** Sessions that were spoken of in a request without an answer, as often. */
  readonly #open: string[] = [];
  #heard: (() => void) | undefined;

  constructor(agent: CheckedAgent, clock: Clock) {
    this.agent = agent;
    this.#clock = clock;
    this.wire = new AcpWire(agent, {
      onNotification: (method, params) => {
        if (method === 'session/update') this.#update(String(params['sessionId']), params['update'] as AcpParams);
      },
      onRequest: (method, params) =>
        method === 'session/request_permission'
          ? Promise.resolve({ outcome: rejected(params['options'] as readonly AcpParams[]) })
          : Promise.reject(new Error(method)),
    });
  }

  async ask(id: RpcId, method: string, params: AcpParams, limitMs: number): Promise<TimedReply> {
    const startedAt = this.#clock.now();
    const session = String(params['sessionId']);
    this.#open.push(session);
    const asked = this.wire.request(id, method, params, () => void this.#open.splice(this.#open.indexOf(session), 1));
    const reply = await this.within(asked, limitMs);
    return { ...(reply ?? { isLate: true }), ms: Math.round(this.#clock.now() - startedAt) };
  }

  prompt(id: RpcId, session: string, text: string, limitMs: number): Promise<TimedReply> {
    return this.ask(id, 'session/prompt', { sessionId: session, prompt: [{ type: 'text', text }] }, limitMs);
  }

  /** Waits for the next update, or so long. */
  async nextUpdate(limitMs: number): Promise<void> {
    await this.within(new Promise<void>((resolve) => (this.#heard = resolve)), limitMs);
  }

  async pause(ms: number): Promise<void> {
    await this.within(new Promise(() => undefined), ms);
  }

  within<T>(promise: Promise<T>, limitMs: number): Promise<T | undefined> {
    return inTime(promise, { clock: this.#clock, limitMs });
  }

  #update(session: string, update: AcpParams): void {
    const { text } = (update['content'] ?? {}) as { readonly text?: unknown };
    const kind = String(update['sessionUpdate']);
    if (this.#open.includes(session)) this.updates.push({ session, kind, text: typeof text === 'string' ? text : '' });
    else if (isConversation(update)) this.late.push(kind);
    this.#heard?.();
  }
}

function rejected(options: readonly AcpParams[] = []): object {
  const option = options.find(({ kind }) => String(kind).startsWith('reject'));
  return option === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option['optionId'] };
}
