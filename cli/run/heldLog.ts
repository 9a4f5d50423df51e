import { type Logger, type LogLevel, say } from '../../src/policy/logger.ts';

/** Holds back what is logged until somebody is to hear it, and passes it on from then on. */
export class HeldLog {
  readonly #to: Logger;
  #held: (() => void)[] | undefined = [];

  constructor(to: Logger) {
    this.#to = to;
  }

  readonly logger: Logger = {
    debug: (message, fields) => this.#log('debug', message, fields),
    info: (message, fields) => this.#log('info', message, fields),
    warn: (message, fields) => this.#log('warn', message, fields),
    error: (message, fields) => this.#log('error', message, fields),
  };

  /** More calls do nothing. */
  release(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const log of held ?? []) log();
  }

  #log(level: LogLevel, message: string, fields: object | undefined): void {
    const log = (): void => say(this.#to, level, message, fields);
    if (this.#held === undefined) log();
    else this.#held.push(log);
  }
}
