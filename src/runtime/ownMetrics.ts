import { addFigures, type CallTotals, noFigures } from '../policy/callFigures.ts';
import { type MetricFamily, metricsOf, type MetricsSource, renamed } from '../policy/metrics.ts';
import { createShownNames, type ShownName } from '../store/shownNames.ts';
import type { Registry } from './registry.ts';

/**
 * The metrics of one process for who asks it: its calls since its start, its circuits and what is under way as of now, and the alerts that it has
 * raised. Without secrets.
 */
export class OwnMetrics {
  readonly #registry: Pick<Registry, 'runtime' | 'status'>;
  readonly #totals = new Map<string, CallTotals>();
  readonly #openAlerts = new Map<string, MetricsSource['openAlerts'][number]>();
  readonly #shown: ShownName;

  constructor(registry: Pick<Registry, 'runtime' | 'status'>) {
    this.#registry = registry;
    const { statistics, bus, secrets } = registry.runtime;
    this.#shown = createShownNames(secrets);
    statistics.onKept((rows) => {
      for (const { minute: _, integration, tool, ...figures } of rows) {
        const key = JSON.stringify([integration, tool]);
        this.#totals.set(key, { integration, tool, ...addFigures(this.#totals.get(key) ?? noFigures, figures) });
      }
    });
    bus.on('alert.raised', ({ alert, integration, because }) => this.#openAlerts.set(alert, { integration, because }));
    bus.on('alert.cleared', ({ alert }) => this.#openAlerts.delete(alert));
  }

  /** As of now. */
  families(): readonly MetricFamily[] {
    const { runtime } = this.#registry;
    runtime.statistics.keep();
    const { integrations, store } = this.#registry.status();
    const stores = { degraded: store === undefined ? 0 : 1, waiting: store?.waiting ?? 0 };
    const source = {
      totals: [...this.#totals.values()],
      integrations,
      stores,
      openAlerts: [...this.#openAlerts.values()],
    };
    return metricsOf(renamed(source, this.#shown));
  }
}
