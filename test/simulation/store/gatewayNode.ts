import { createActor } from 'xstate';
import { DeadlineQueue } from '../../../src/calls/deadlineQueue.ts';
import { createToolPort } from '../../../src/sessions/toolPort.ts';
import { sessionMachine, type SessionRef } from '../../../src/machines/session.ts';
import type { KeptFacts } from '../../../src/policy/facts/facts.ts';
import type { Outcome } from '../../../src/policy/failures/failure.ts';
import { checkToolCallRetry } from '../../../src/policy/toolCallRetry.ts';
import { createKeptSessions, type KeptSessions } from '../../../src/runtime/keptSessions.ts';
import type { Acceptance } from '../../../src/sessions/acceptance.ts';
import { SupervisedSession } from '../../../src/sessions/supervisedSession.ts';
import type { Store } from '../../../src/store/store.ts';
import { indexedScheduler } from '../../../src/supervisor/scheduler.ts';
import { journalled } from '../../cluster/journal.ts';
import type { Chance } from '../chance.ts';
import type { NodeParts, SimulatedNode } from './runNodes.ts';
import { type Mutate, SimulatedProcess } from './simulatedProcess.ts';

/** What a node has sent, and what it was told of it. */
export interface SentMessage {
  readonly node: string;
  readonly session: string;
  readonly mark: string;
  readonly key: string | undefined;
  /** Places in the order of all that the node has sent and heard. */
  readonly sentAt: number;
  answeredAt: number | undefined;
  answer: Acceptance | undefined;
  /** What its sender was told of its end, each time. */
  readonly ends: Outcome<unknown>[];
}

export interface GatewayNodeParts extends NodeParts {
  readonly mutate?: Mutate | undefined;
}

/** Messages that may wait for a session. */
const mailboxLimit = 12;
/** Keys that nodes share, so that several send the same. */
const sharedKeys = 10;
const nobody = { entries: [], boot: '', namespace: '' };
const unheard: KeptFacts = { tell: () => undefined, wants: () => false, masked: (fact) => fact };

/** A node with the sessions of a gateway as they are: what is sent to them at any node, taken, lost, handed over and mailed. */
export class GatewayNode extends SimulatedProcess implements SimulatedNode {
  readonly sent: SentMessage[] = [];
  readonly #sessions: readonly SupervisedSession[];
  readonly #actors: SessionRef[] = [];
  readonly #kept: KeptSessions;
  readonly #chance: Chance;
  #starting = 1;
  #unanswered = 0;
  #order = 0;
  readonly #opened: Promise<void>;
  hasStopped = false;

  constructor(name: string, { sessions: ids, note, ...parts }: GatewayNodeParts) {
    super(name, parts);
    const { clock, store } = this;
    this.#chance = parts.chance;
    const deadlines = new DeadlineQueue(clock);
    const tools = createToolPort(new Map(), checkToolCallRetry(undefined), clock);
    this.#sessions = ids.map((id) => this.#makeSession({ id, clock, deadlines, facts: unheard, tools, kept: true }));
    // What sessions use of a store.
    const keeping: Pick<Store, 'persistent' | 'sessions'> & { readonly runtimes: Pick<Store['runtimes'], 'pids'> } = {
      persistent: true,
      // Who is entered beside sessions is another matter.
      runtimes: { pids: () => Promise.resolve([]) },
      sessions: (run) =>
        journalled(store.sessions(run), name, (entry) => {
          if (!this.isDead) note(entry);
        }),
    };
    this.#kept = createKeptSessions({
      clock,
      facts: unheard,
      store: () => keeping as Store,
      seeWorld: () => Promise.resolve(nobody),
      takenOver: () => undefined,
      adoption: { start: () => Promise.resolve(), look: () => Promise.resolve(), stop: () => undefined },
    });
    for (const session of this.#sessions) this.#kept.add(session);
    this.#opened = store.open(false);
    void this.#start();
  }

  async #start(): Promise<void> {
    await this.#opened;
    await this.#kept.start({ id: this.name, world: nobody, seenAt: this.clock.wallNow() });
    this.#starting = 0;
  }

  #makeSession(parts: ConstructorParameters<typeof SupervisedSession>[0]): SupervisedSession {
    const session = new SupervisedSession(parts, {
      onMessage: ({ data }) => this.#work(data),
      mailbox: { limit: mailboxLimit },
      recovery: { maxDeliveries: 1_000_000 },
    });
    const actor = createActor(sessionMachine, { input: { session: parts.id, ...session.limits } });
    actor.system.scheduler = indexedScheduler(parts.clock);
    session.attach(actor, 1);
    actor.start();
    this.#actors.push(actor);
    return session;
  }

  /** Takes no time, or some; its value is what the message says. */
  #work(data: unknown): unknown {
    if (this.#chance.happens(0.5)) return data;
    return new Promise((done) => this.clock.setTimeout(() => done(data), this.#chance.span(1, 2_000)));
  }

  get pending(): number {
    return this.isDead ? 0 : this.#starting + this.#unanswered;
  }

  get messages(): number {
    return this.sent.length;
  }

  /** Mail of which it has not heard that it is kept is owed to nobody: its row goes with time. */
  get isDone(): boolean {
    return this.sent.every(({ answer, ends }) => answer?.accepted !== true || ends.length > 0);
  }

  act(): void {
    if (this.hasStopped) return;
    // Those that are sent at once may have to wait in line behind one another.
    if (this.#chance.happens(0.4)) {
      const session = this.#chance.pick(this.#sessions);
      for (let times = this.#chance.integer(1, 4); times > 0; times--) this.#send(session);
    }
    // Others wait for the commit of one before they send the next: what they sent is mail in a row.
    if (this.#chance.happens(0.15)) this.#sendInARow(this.#chance.pick(this.#sessions), this.#chance.integer(2, 5));
    if (this.#chance.happens(0.05)) this.#chance.pick(this.#sessions).giveBack('another');
    if (this.#chance.happens(0.01)) void this.#stop();
  }

  #sendInARow(session: SupervisedSession, times: number): void {
    this.#send(session, () => {
      if (times > 1 && !this.hasStopped) this.#sendInARow(session, times - 1);
    });
  }

  #send(session: SupervisedSession, answered: () => void = () => undefined): void {
    const mark = `${this.name}/${this.sent.length + 1}`;
    const key = this.#chance.happens(0.3) ? `shared ${this.#chance.integer(1, sharedKeys)}` : undefined;
    const sent: SentMessage = {
      ...{ node: this.name, session: session.id, mark, key, sentAt: ++this.#order },
      ...{ answeredAt: undefined, answer: undefined, ends: [] },
    };
    this.sent.push(sent);
    this.#unanswered++;
    void session.send({ kind: 'user', data: mark }, key === undefined ? {} : { key }).then((answer) => {
      this.#unanswered--;
      if (this.isDead) return;
      sent.answer = answer;
      sent.answeredAt = ++this.#order;
      if (answer.accepted) void answer.processed.then((end) => this.isDead || sent.ends.push(end));
      answered();
    });
  }

  /** In the order of a gateway's stop. */
  async #stop(): Promise<void> {
    this.#kept.stop();
    for (const session of this.#sessions) session.stop();
    for (const actor of this.#actors) actor.stop();
    for (const session of this.#sessions) session.ended();
    // A gateway does not close a store that it is opening.
    await this.#opened;
    await this.store.flush();
    await this.store.close();
    this.hasStopped = true;
  }

  flush(): void {
    void this.store.flush();
  }

  drain(): void {
    // Its sessions do that by themselves.
  }
}
