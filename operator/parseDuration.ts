import { msIn, show, unitsMs } from '../src/policy/text/face.ts';

/**
 * A duration as people write it (`500ms`, `30s`, `5m`, `1.5h`, `7d`), in ms.
 * @throws RangeError that names the option and its value.
 */
export function parseDuration(name: string, text: string): number {
  const ms = typeof text === 'string' ? msIn(text) : undefined;
  if (ms === undefined) {
    const hint = inOneUnit(text);
    const instead = hint === undefined ? '' : `; write ${hint}`;
    throw new RangeError(
      `Expected \`${name}\` to be a duration such as 500ms, 30s, 5m or 1h, got ${show(text)}${instead}`,
    );
  }
  return ms;
}

/** `1h30m` as it can be written, in the last of its units: `90m`; undefined for what is no such text. */
function inOneUnit(text: unknown): string | undefined {
  if (typeof text !== 'string' || !/^(?:\d{1,12}(?:ms|[smhd])){2,5}$/.test(text)) return undefined;
  const parts = [...text.matchAll(/(\d+)(ms|[smhd])/g)].map(([part, , unit = '']) => ({ ms: msIn(part) ?? 0, unit }));
  const unit = parts.at(-1)?.unit ?? 'ms';
  const count = parts.reduce((sum, { ms }) => sum + ms, 0) / (unitsMs[unit] ?? 1);
  return Number.isSafeInteger(count) ? `${count}${unit}` : undefined;
}
