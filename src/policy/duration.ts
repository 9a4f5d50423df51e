import { show } from './options.ts';

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/**
 * A duration as people write it (`500ms`, `30s`, `5m`, `1.5h`), in ms.
 * @throws RangeError that names the option and its value.
 */
export function parseDuration(name: string, text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text.trim());
  const unitMs = unitsMs[match?.[2] ?? ''];
  if (match === null || unitMs === undefined) {
    throw new RangeError(`Expected \`${name}\` to be a duration such as 500ms, 30s, 5m or 1h, got ${show(text)}`);
  }
  return Number(match[1]) * unitMs;
}

/** A duration for people: the two largest units at most. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return 'for ever';
  if (ms < 1000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${Math.round(ms / 100) / 10}s`;
  const seconds = Math.round(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = seconds % 60;
  if (hours > 0) return minutes === 0 ? `${hours}h` : `${hours}h${minutes}m`;
  return rest === 0 ? `${minutes}m` : `${minutes}m${rest}s`;
}
