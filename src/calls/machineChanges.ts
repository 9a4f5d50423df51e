import type { IntegrationState } from '../machines/integration.ts';
import type { IntegrationEmitted } from '../machines/integrationEvents.ts';
import type { Stations } from './stations.ts';

/** Told what became of the machine. */
export interface MachineWatcher {
  /** @param shown - what `from` was shown as: before the first start that is `idle`. */
  changed(from: IntegrationState, to: IntegrationState, shown: IntegrationState): void;
  /** It is shown in another state, though nothing changed for the calls. */
  shown(from: IntegrationState, to: IntegrationState): void;
  emitted(event: IntegrationEmitted): void;
}

/** What a change of the machine means for the calls that wait, and who hears of it. */
export class MachineChanges<I, O> implements MachineWatcher {
  readonly #on: Stations<I, O>;

  constructor(stations: Stations<I, O>) {
    this.#on = stations;
  }

  shown(from: IntegrationState, to: IntegrationState): void {
    const { parts, records, stopped } = this.#on;
    if (!stopped && from !== to) records.tell({ type: 'integration.changed', integration: parts.name, from, to });
  }

  changed(from: IntegrationState, to: IntegrationState, shown: IntegrationState): void {
    const { parts, link, probing, records, gate, failures, counts } = this.#on;
    if (this.#on.stopped) return;
    // First: whoever is refused is told why. What is isolated was opened by nobody's failure.
    if (to === 'open' && link.openUntil !== Number.POSITIVE_INFINITY) {
      failures.opened(parts.policy.breaker, counts.inARow);
    }
    if (from === 'half-open') probing.forget();
    this.shown(shown, to === 'crashed' && !link.started ? 'idle' : to);
    // Who heard of it may have changed it again.
    const { lastState, isOpen, closed } = link;
    if (to === 'crashed' && lastState === to) {
      gate.resume('probe');
      // No place is given out while it is away: they wait for the restart now, and no longer than others.
      gate.resume('place');
    }
    if (to === 'open' && isOpen) gate.refuseAll();
    // Or made a call: that leads on to `calling`, and others wait for this all the same.
    else if (closed && (from === 'half-open' || from === 'open' || from === 'crashed')) {
      records.callAdmitted();
      gate.resumeAfterRestart();
      gate.resume('probe');
      gate.fillPlaces();
    }
  }

  emitted(event: IntegrationEmitted): void {
    const { parts, records, failures } = this.#on;
    if (event.type === 'breaker.closed') failures.clear();
    const cause = event.type === 'breaker.opened' && event.kind !== 'isolated' ? failures.cause : undefined;
    // First what is kept: who hears of it may change the breaker again, and the last change is to be the one that stays.
    parts.onBreaker?.(event, cause);
    const why = cause === undefined ? undefined : { cause: cause.message, failures: cause.failures };
    records.tell({ ...event, ...why, integration: parts.name });
  }
}
