import type { Clock } from '../policy/clock.ts';
import { type Logger, say } from '../policy/logger.ts';

/** Says, once, that messages wait for the start of their gateway: nobody else would, and a process that awaits them ends without a word. */
export class StartReminder {
  readonly #clock: Pick<Clock, 'nextTurn'>;
  readonly #logger: Logger | undefined;
  #isOver = false;

  constructor(clock: Pick<Clock, 'nextTurn'>, logger: Logger | undefined) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The gateway is being started, or stopped. */
  end(): void {
    this.#isOver = true;
  }

  /** A session was sent a message. A program may well start its gateway in the same turn of its event loop. */
  sent(session: string): void {
    if (!this.#isOver) this.#clock.nextTurn(() => this.#remind(session));
  }

  #remind(session: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const text = `The session ${session} has a message, and its gateway has not started yet: messages wait for gateway.start()`;
    if (this.#logger === undefined) process.emitWarning(text, 'UnwedgeWarning');
    else say(this.#logger, 'warn', text);
  }
}
