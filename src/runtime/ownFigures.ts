import { addFigures, type CallTotals, noFigures } from '../policy/records/callFigures.ts';
import type { MetricsSource } from '../policy/records/metrics.ts';
import { createShownNames, type ShownName } from '../redaction/shownNames.ts';
import type { Registry } from './registry.ts';

/**
 * Figures that the metrics of one process are made of: its calls since its start, its circuits and what is under way as of now, and the alerts that it has
 * raised. It counts from the beginning; the metrics are made of it by a part that is loaded when somebody asks ({@link ownMetrics}).
 */
export class OwnFigures {
  readonly #registry: Pick<Registry, 'runtime' | 'status'>;
  readonly #totals = new Map<string, CallTotals>();
  readonly #openAlerts = new Map<string, MetricsSource['openAlerts'][number]>();
  #shown: ShownName | undefined = undefined;

  constructor(registry: Pick<Registry, 'runtime' | 'status'>) {
    this.#registry = registry;
    const { statistics, bus } = registry.runtime;
    statistics.onKept((rows) => {
      for (const { minute: _, integration, tool, ...figures } of rows) {
        const key = JSON.stringify([integration, tool]);
        this.#totals.set(key, { integration, tool, ...addFigures(this.#totals.get(key) ?? noFigures, figures) });
      }
    });
    bus.on('alert.raised', ({ alert, integration, because }) => this.#openAlerts.set(alert, { integration, because }));
    bus.on('alert.cleared', ({ alert }) => this.#openAlerts.delete(alert));
  }

  /** A name without secrets. */
  get shown(): ShownName {
    return (this.#shown ??= createShownNames(this.#registry.runtime.secrets));
  }

  /** As of now, with the names as they are. */
  source(): MetricsSource {
    const { runtime } = this.#registry;
    runtime.statistics.keep();
    const { integrations, store } = this.#registry.status();
    return {
      totals: [...this.#totals.values()],
      integrations,
      stores: { degraded: store === undefined ? 0 : 1, waiting: store?.waiting ?? 0 },
      openAlerts: [...this.#openAlerts.values()],
    };
  }
}
