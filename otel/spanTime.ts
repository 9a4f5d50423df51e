import type { HrTime } from '@opentelemetry/api';

/** Wall time in ms as OpenTelemetry takes it: as a number it would be guessed which clock it is of. */
export function spanTime(wallMs: number): HrTime {
  const seconds = Math.floor(wallMs / 1000);
  return [seconds, Math.round((wallMs - seconds * 1000) * 1e6)];
}
