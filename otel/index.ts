export { type TelemetryOptions, type Traced, withTelemetry } from './withTelemetry.ts';
