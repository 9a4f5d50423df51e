import type { BreakerCause } from '../../src/policy/breakerCause.ts';
import type { Failure } from '../../src/policy/failure.ts';
import { sanitize } from '../sanitize.ts';
import { localTime } from '../timeText.ts';

/** From here on a time needs no seconds, in ms. */
const longMs = 10 * 60_000;

/** Tells the failures of a command, in the words of somebody who has no gateway. @param cause - undefined: that is not known. */
export function failedText(name: string, cause: BreakerCause | undefined): string {
  const rule = cause?.rule;
  const shown = sanitize(name);
  switch (rule?.name) {
    case 'consecutive_failures':
      return `${shown} failed ${rule.failures === 1 ? 'once' : `${rule.failures} times in a row`}`;
    case 'failure_ratio':
      return `${shown} failed in ${rule.failures} of its last ${rule.attempts} attempts`;
    case 'failed_probe':
      return `${shown} failed again when it was tried`;
    case 'quota':
      return `${shown} has no quota left`;
    case 'isolated':
    case undefined:
      return `${shown} failed too often`;
  }
}

/** From when on it is run again, in the time zone of the reader. @param now - wall time in ms since the epoch. */
export function notBefore({ retryAfterMs = 0 }: Pick<Failure, 'retryAfterMs'>, now: number): string {
  if (retryAfterMs <= 0) return 'another run tries it now';
  // Rounded up, so that nobody comes too early.
  const step = retryAfterMs < longMs ? 1000 : 60_000;
  const time = localTime(Math.ceil((now + retryAfterMs) / step) * step);
  const today = localTime(now).slice(0, 10);
  const day = time.startsWith(today) ? '' : `${time.slice(0, 10)} `;
  return `it is not run before ${day}${time.slice(11, retryAfterMs < longMs ? 19 : 16)}`;
}
