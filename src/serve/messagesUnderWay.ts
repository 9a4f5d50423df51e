import type { Outcome } from '../policy/failure.ts';
import type { Message } from '../sessions/mailbox.ts';

/** A message that was accepted by this process and has not ended. */
export interface MessageUnderWay {
  readonly message: Message;
  /** Never rejects. */
  readonly processed: Promise<Outcome<unknown>>;
}

/** The messages that were accepted here and have not ended, by their ids: for who sends one again. As many as mailboxes hold. */
export class MessagesUnderWay {
  readonly #messages = new Map<string, MessageUnderWay>();

  add(id: string, message: Message, processed: MessageUnderWay['processed']): void {
    this.#messages.set(id, { message, processed });
    void processed.then(() => this.#messages.delete(id));
  }

  get(id: string): MessageUnderWay | undefined {
    return this.#messages.get(id);
  }
}
