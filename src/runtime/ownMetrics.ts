import { type MetricFamily, metricsOf, renamed } from '../policy/metrics.ts';
import { type MetricsBody, metricsBody } from '../policy/metricsText.ts';
import { type KeysOf, text } from '../policy/optionKeys.ts';
import { readOptions } from '../policy/readOptions.ts';
import type { OwnFigures } from './ownFigures.ts';

/** Options of writing metrics. */
export interface MetricsOptions {
  /**
   * The header `Accept` of the request: it may ask for OpenMetrics 1.0.0, as Prometheus does. @defaultValue Prometheus' text format 0.0.4
   */
  readonly accept?: string | undefined;
}

const metricsKeys = { accept: text({ empty: true }) } satisfies KeysOf<MetricsOptions>;

/** The metrics of one process as of now, without secrets. */
export function ownMetrics(figures: OwnFigures): readonly MetricFamily[] {
  return metricsOf(renamed(figures.source(), figures.shown));
}

/** The same as the body of an answer. @throws TypeError when an option is wrong. */
export function ownMetricsBody(figures: OwnFigures, options: MetricsOptions = {}): MetricsBody {
  const { accept } = readOptions('metrics', options, metricsKeys);
  return metricsBody(ownMetrics(figures), accept);
}
