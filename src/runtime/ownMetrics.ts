import { type MetricFamily, metricsOf, renamed } from '../policy/records/metrics.ts';
import { type MetricsBody, metricsBody } from '../policy/records/metricsText.ts';
import { type Given, text } from '../policy/options/optionKeys.ts';
import { readOptions } from '../policy/options/readOptions.ts';
import type { OwnFigures } from './ownFigures.ts';

const metricsKeys = {
  /**
   * The header `Accept` of the request: it may ask for OpenMetrics 1.0.0, as Prometheus does. @defaultValue Prometheus' text format 0.0.4
   */
  accept: text({ empty: true }),
};

/** Options of writing metrics. */
export interface MetricsOptions extends Given<typeof metricsKeys> {}

/** The metrics of one process as of now, without secrets. */
export function ownMetrics(figures: OwnFigures): readonly MetricFamily[] {
  return metricsOf(renamed(figures.source(), figures.shown));
}

/** The same as the body of an answer. @throws TypeError when an option is wrong. */
export function ownMetricsBody(figures: OwnFigures, options: MetricsOptions = {}): MetricsBody {
  const { accept } = readOptions('metrics', options, metricsKeys);
  return metricsBody(ownMetrics(figures), accept);
}
