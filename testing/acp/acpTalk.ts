import { type Clock, inTime } from '../../src/policy/face.ts';
import type { RpcId } from '../../src/protocol/face.ts';
import { type AcpParams, type AcpPipes, type AcpReply, AcpWire, selected } from './acpWire.ts';

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
  /** Messages of the agent before it. */
  readonly heard: number;
}

/** A conversation with an agent in which every wait has a limit. Permissions are rejected. */
export class AcpTalk {
  readonly agent: CheckedAgent;
  readonly wire: AcpWire;
  readonly #clock: Clock;
  #heard: (() => void) | undefined;

  constructor(agent: CheckedAgent, clock: Clock) {
    this.agent = agent;
    this.#clock = clock;
    this.wire = new AcpWire(agent, {
      onUpdate: () => this.#heard?.(),
      permit: (_, options) => Promise.resolve(selected(options, 'reject')),
    });
  }

  async ask(id: RpcId, method: string, params: object, limitMs: number): Promise<TimedReply> {
    const startedAt = this.#clock.now();
    let heard = 0;
    const asked = this.wire.request(id, method, params, () => (heard = this.wire.received.length));
    const reply = (await this.within(asked, limitMs)) ?? { isLate: true as const };
    return { ...reply, heard, ms: Math.round(this.#clock.now() - startedAt) };
  }

  prompt(id: RpcId, session: string, text: string, limitMs: number): Promise<TimedReply> {
    return this.ask(id, 'session/prompt', { sessionId: session, prompt: [{ type: 'text', text }] }, limitMs);
  }

  /** Updates of a session, of one kind, among these messages of the agent. */
  updates(session: string, kind: string, from: number, to: number): readonly AcpParams[] {
    return this.wire.received.slice(from, to).flatMap(({ params }) => {
      const update = params['update'] as AcpParams | undefined;
      return params['sessionId'] === session && update?.['sessionUpdate'] === kind ? [update] : [];
    });
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
}
