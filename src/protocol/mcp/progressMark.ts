import type { McpParams } from './message.ts';

/**
 * Tells the progress of a request from its repetition. By the protocol its value increases; a server that says the same again only shows
 * that it runs, as a ping would.
 */
export class ProgressMark {
  #last: string | undefined = undefined;

  /** Tells whether a progress notification says something else than the one before. */
  moves({ progress, total, message }: McpParams): boolean {
    const said = JSON.stringify([progress, total, message]);
    if (said === this.#last) return false;
    this.#last = said;
    return true;
  }
}
