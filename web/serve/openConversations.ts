import type { Conversation } from '../../agents/conversation/agentTypes.ts';
import type { Clock, Timer } from '../../src/policy/face.ts';

/** Conversations that are held open at a time: each may have a process of some hundred MB. */
const mostOpen = 20;
/** Time for which one is held that is not used, in ms. Later it is resumed by its id, which takes a start of its agent. */
const idleMs = 5 * 60_000;

interface Open {
  readonly conversation: Conversation;
  timer: Timer | undefined;
}

/** The conversations that sessions had last, open for what follows soon. */
export class OpenConversations {
  readonly #clock: Clock;
  readonly #open = new Map<string, Open>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes one into use; it is not let go before it is put back. */
  take(key: string): Conversation | undefined {
    const open = this.#open.get(key);
    if (open === undefined) return undefined;
    this.#clock.clearTimeout(open.timer);
    this.#open.delete(key);
    return open.conversation;
  }

  /** Holds one that is not in use, for a while. */
  put(key: string, conversation: Conversation): void {
    const timer = this.#clock.setTimeout(() => this.letGo(key), idleMs, { ref: false });
    this.#open.set(key, { conversation, timer });
    // The first is the one that was used longest ago.
    for (const oldest of this.#open.keys()) {
      if (this.#open.size <= mostOpen) return;
      this.letGo(oldest);
    }
  }

  /** Ends one that is not in use. */
  letGo(key: string): void {
    void this.take(key)?.stop();
  }
}
