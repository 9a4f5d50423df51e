import type { SenderEntry } from '../history/journalEntry.ts';
import type { NodeProcess } from './nodeProcess.ts';

/** Messages without an answer at a time, of each sender. */
const mostUnanswered = 3;
/** How long an answer is waited for before the message goes to another node, in ms. */
const patienceMs = 1_500;
const retryMs = 60;

interface Unanswered {
  readonly session: string;
  /** Who sends it, and by which node: order is kept on one way. */
  sender: string;
  /** The node by which it was sent first. */
  by: string | undefined;
  /** Whether another node was sent it too: it has no place among those of one way. */
  isElsewhere: boolean;
  sentAt: number;
}

/**
 * The senders of messages: each sends to any session by any node. A message without an answer, or whose session is another node's, is sent again
 * under its key by another node; some are sent twice at once.
 */
export class ClusterLoad {
  /** What senders know, in order. */
  readonly journal: SenderEntry[] = [];
  readonly accepted = new Set<string>();
  readonly #nodes: () => readonly NodeProcess[];
  readonly #random: () => number;
  readonly #sessions: number;
  readonly #senders: number;
  readonly #unanswered = new Map<string, Unanswered>();
  /** What was accepted without being kept: another node may have the session next, and knows nothing of it. */
  readonly unkept = new Set<string>();
  #sent = 0;
  #isOn = false;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(
    nodes: () => readonly NodeProcess[],
    random: () => number,
    { sessions, senders }: { sessions: number; senders: number },
  ) {
    this.#nodes = nodes;
    this.#random = random;
    this.#sessions = sessions;
    this.#senders = senders;
  }

  get unanswered(): number {
    return this.#unanswered.size;
  }

  begin(): void {
    this.#isOn = true;
    this.#timer ??= setInterval(() => this.#tick(), 20);
  }

  /** Sends nothing new; what was sent is answered still. */
  pause(): void {
    this.#isOn = false;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  heard([what, ...words]: readonly string[]): void {
    const [key = '', word] = words;
    const waiting = this.#unanswered.get(key);
    if (waiting === undefined) return;
    if (what === 'accepted' || what === 'duplicate') {
      this.#unanswered.delete(key);
      if (word === 'false') {
        this.unkept.add(key);
        return;
      }
      this.accepted.add(key);
      const sender = waiting.isElsewhere ? key : waiting.sender;
      this.journal.push({ type: 'accepted', node: 'senders', session: waiting.session, key, sender });
    } else if (what === 'refused') waiting.sentAt = Date.now() - patienceMs + retryMs;
  }

  #tick(): void {
    for (const [key, waiting] of this.#unanswered) {
      if (Date.now() - waiting.sentAt >= patienceMs) this.#send(key, waiting);
    }
    if (!this.#isOn) return;
    for (let sender = 0; sender < this.#senders; sender++) {
      const name = `sender-${sender}`;
      const own = [...this.#unanswered.values()].filter(
        (each) => each.sender.startsWith(`${name} `) || each.sender === name,
      );
      if (own.length >= mostUnanswered || this.#random() < 0.5) continue;
      const session = `s-${Math.floor(this.#random() * this.#sessions)}`;
      const key = `k-${this.#sent++}`;
      const waiting: Unanswered = { session, sender: name, by: undefined, isElsewhere: false, sentAt: 0 };
      this.#unanswered.set(key, waiting);
      this.#send(key, waiting);
      if (this.#random() < 0.05) this.#send(key, waiting);
    }
  }

  #send(key: string, waiting: Unanswered): void {
    const nodes = this.#nodes().filter(({ isReady }) => isReady);
    const node = nodes[Math.floor(this.#random() * nodes.length)];
    waiting.sentAt = Date.now();
    if (node !== undefined && waiting.by === undefined) {
      waiting.by = node.name;
      waiting.sender = `${waiting.sender} by ${node.name}`;
      this.journal.push({ type: 'send', node: 'senders', session: waiting.session, key, sender: waiting.sender });
    }
    waiting.isElsewhere ||= waiting.by !== undefined && waiting.by !== node?.name;
    node?.send(waiting.session, key);
  }
}
