import type { IntegrationEvent } from '../machines/integrationEvents.ts';

/** Holders of an open circuit. Kept apart from its machine, of which a new incarnation knows nothing of them. */
export class Isolations {
  readonly #holders = new Set<object>();

  /** Adds a holder. @returns what takes it away again, once. */
  hold(send: (event: IntegrationEvent) => void): () => void {
    const holder = {};
    this.#holders.add(holder);
    send({ type: 'breaker.isolate' });
    return () => {
      // After a reset the isolation is gone, and this release must not take away somebody else's.
      if (this.#holders.delete(holder)) send({ type: 'breaker.release' });
    };
  }

  /** A new incarnation begins with all of them. */
  restore(send: (event: IntegrationEvent) => void): void {
    for (const _ of this.#holders) send({ type: 'breaker.isolate' });
  }

  clear(): void {
    this.#holders.clear();
  }
}
