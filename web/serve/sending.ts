import { isDeepStrictEqual } from 'node:util';
import type { McpIntegration } from '../../src/integrations/mcp/face.ts';
import { type Clock, inTime } from '../../src/policy/face.ts';
import type { Acceptance, Message } from '../../src/sessions/face.ts';
import type { StoreReader } from '../../reader/storeReader.ts';
import type { Answered, Asked, AskedOf } from './api.ts';
import { ApiError, heldElsewhere, unreadable } from './apiError.ts';
import { answersIn, type MessageResult, toolMessage, userMessage } from './messageHandler.ts';
import { endedView, isOver, type MessageStates, type MessageView } from './messageView.ts';
import type { Place, Places } from './places.ts';
import type { ServedSession } from './sessionHost.ts';

export interface SendingParts {
  readonly clock: Clock;
  readonly servers: ReadonlyMap<string, Pick<McpIntegration, 'tools'>>;
  readonly agents: readonly string[];
  readonly states: MessageStates;
  readonly places: Places;
  readonly read: <T>(work: (reader: StoreReader) => Promise<T>) => Promise<T>;
  readonly isStopping: () => boolean;
  /** Tells whether the turn of a message is under way in this process. */
  readonly isRunning: (session: string, message: string) => boolean;
}

/** Sends messages to sessions, for their clients: what is answered at once, what within the time that they wait, and what to one that was sent before. */
export class Sending {
  readonly #parts: SendingParts;
  /** Messages that were accepted here and have not ended, by their ids: as many as mailboxes hold. */
  readonly #underWay = new Map<string, Message>();

  constructor(parts: SendingParts) {
    this.#parts = parts;
  }

  /** @throws ApiError that says why it is not accepted. */
  async send(session: ServedSession, asked: AskedOf<'send'>): Promise<Answered> {
    const given = asked.request.headers['idempotency-key'];
    const key = typeof given === 'string' ? given : undefined;
    const message = this.#messageIn(asked.body);
    const place = this.#placeFor(session, asked.body, key);
    let acceptance: Acceptance<MessageResult | undefined>;
    try {
      acceptance = await session.send(message, key === undefined ? {} : { key });
    } catch (error) {
      place?.giveBack();
      throw error;
    }
    if (acceptance.accepted)
      void acceptance.processed.then(() => (place?.leave(), this.#underWay.delete(acceptance.id)));
    else place?.giveBack();
    if (!acceptance.accepted && acceptance.reason === 'duplicate')
      return this.#again(session, acceptance, message, asked);
    if (acceptance.accepted) this.#underWay.set(acceptance.id, message);
    return this.#answerOf(session, acceptance, asked);
  }

  /** Takes a place; one that goes on elsewhere takes one there, and one that was accepted before takes none. */
  #placeFor(session: ServedSession, body: AskedOf<'send'>['body'], key: string | undefined): Place | undefined {
    if (session.heldElsewhere || (key !== undefined && session.knows(key))) return undefined;
    return this.#parts.places.enter(this.#targetOf(session, body), session.id);
  }

  /** Finds who is asked: a server, or an agent, by the name of its integration. */
  #targetOf({ history }: Pick<ServedSession, 'history'>, { agent, tool }: AskedOf<'send'>['body']): string {
    return tool?.server ?? agent ?? answersIn(history).at(-1)?.asked ?? this.#parts.agents[0] ?? '';
  }

  #messageIn({ text, agent, tool }: AskedOf<'send'>['body']): Message {
    const { servers, agents } = this.#parts;
    if ((text === undefined) === (tool === undefined))
      throw new ApiError(400, 'Expected `body` to have either `text` or `tool`.');
    if (tool !== undefined) {
      if (agent !== undefined) throw new ApiError(400, '`agent` belongs to `text`; `tool` names its server.');
      if (!servers.has(tool.server)) throw unknown('body.tool.server', tool.server, [...servers.keys()]);
      return toolMessage({ server: tool.server, name: tool.name, arguments: { ...tool.arguments } });
    }
    if (agents.length === 0)
      throw new ApiError(400, 'No agent is configured to answer `text`: name one under `agents` of the configuration.');
    if (agent !== undefined && !agents.includes(agent)) throw unknown('body.agent', agent, agents);
    return userMessage({ text: text ?? '', agent });
  }

  async #answerOf(
    session: ServedSession,
    acceptance: Acceptance<MessageResult | undefined>,
    asked: AskedOf<'send'>,
  ): Promise<Answered> {
    if (!acceptance.accepted) {
      const { reason } = acceptance;
      if (reason === 'mailbox_full') throw new ApiError(429, 'The mailbox of the session is full.', 1);
      if (reason === 'owned_elsewhere') throw await heldElsewhere(session.id, this.#parts.read);
      if (reason === 'unavailable') throw unreadable();
      if (reason === 'closed') throw new ApiError(503, 'The session is being closed: send it again.', 1);
      throw new ApiError(503, 'It is stopping.', 5);
    }
    const { clock, states } = this.#parts;
    const { id, durable, processed } = acceptance;
    const limitMs = asked.query.wait;
    const until = clock.now() + (limitMs ?? 0);
    const outcome = limitMs === undefined ? undefined : await inTime(processed, { clock, limitMs });
    if (outcome === undefined) {
      const state = limitMs !== undefined && this.#parts.isRunning(session.id, id) ? 'running' : 'waiting';
      return { status: 202, data: { id, durable, state } };
    }
    const reason = outcome.ok ? undefined : outcome.failure.reason;
    // Cut by a stop: it is delivered again at the next start.
    if (reason === 'stopped') return { status: 202, data: { id, durable, state: 'waiting' } };
    // It goes on where the session does.
    if (reason === 'taken_over' && durable) {
      await states.ended(session.id, id, until, () => this.#isGivenUp(asked));
      const view = (await states.view(session, id).catch(() => undefined)) ?? waitingView(id);
      return { status: isOver(view) ? 200 : 202, data: { ...view, durable } };
    }
    const view = outcome.ok ? endedView(id, outcome.value) : endedView(id, undefined, outcome.failure.message);
    return { data: { ...view, durable } };
  }

  /** A message that was accepted under this key before, here or by another gateway: what became of it, which may be waited for. */
  async #again(
    session: ServedSession,
    { id, processed }: Extract<Acceptance, { reason: 'duplicate' }>,
    message: Message,
    asked: AskedOf<'send'>,
  ): Promise<Answered> {
    const { clock, states } = this.#parts;
    const begun = session.history.findLast((entry) => entry.type === 'message' && entry.id === id);
    const kept = this.#underWay.get(id) ?? (begun?.type === 'message' ? begun.message : undefined);
    const first = kept ?? (await states.record(session.id, id))?.message;
    if (first !== undefined && !isDeepStrictEqual(plain(first), plain(message)))
      throw new ApiError(422, `Another message was accepted under this Idempotency-Key: ${id}.`);
    const limitMs = asked.query.wait;
    if (limitMs !== undefined) await inTime(processed, { clock, limitMs });
    const view = (await states.view(session, id)) ?? (this.#underWay.has(id) ? waitingView(id) : undefined);
    if (view === undefined)
      throw new ApiError(
        410,
        `It was accepted before under this Idempotency-Key, as ${id}; its end is not known any more.`,
      );
    return { status: isOver(view) ? 200 : 202, data: { ...view, duplicate: true } };
  }

  /** Tells whether nobody waits for the end of a message any more: its client has left, or this gateway stops. */
  #isGivenUp({ request }: Pick<Asked, 'request'>): boolean {
    return request.socket.destroyed || this.#parts.isStopping();
  }
}

const waitingView = (id: string): MessageView => ({ id, state: 'waiting' });

/** As it is once it was kept. */
const plain = (message: Message): unknown => JSON.parse(JSON.stringify(message));

function unknown(key: string, value: string, known: readonly string[]): ApiError {
  return new ApiError(400, `Expected \`${key}\` to be one of ${known.join(', ') || 'none'}, got \`${value}\`.`);
}
