import type { Clock } from '../policy/clock.ts';
import type { AgentSign } from './agentReport.ts';

/**
 * Tells which messages of an agent are signs of life. Progress is; announced retries are for as long as `retryLifeMs` after the last
 * progress, as an agent may be told to retry for hours; what only shows that a connection stands is none.
 */
export function createRetryLife(
  clock: Pick<Clock, 'now'>,
  touch: () => void,
  retryLifeMs: number,
): (sign: AgentSign) => void {
  let progressAt = clock.now();
  return (sign) => {
    if (sign === 'traffic') return;
    const now = clock.now();
    if (sign === 'progress') progressAt = now;
    if (now - progressAt < retryLifeMs) touch();
  };
}
