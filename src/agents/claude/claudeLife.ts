import type { Clock, Timer } from '../../policy/clock.ts';
import { claudeSign } from '../../protocol/claudeSigns.ts';
import { createRetryLife } from '../../protocol/retryLife.ts';
import type { SdkMessage } from './agentSdkTypes.ts';

/** The signs of life of one turn. */
export interface ClaudeLife {
  /** A message came. */
  heard(message: SdkMessage): void;
  /** A person is asked: until the returned release nobody expects Claude to say anything. */
  waitForPerson(): () => void;
  stop(): void;
}

/** Time in ms between notes that a person is being waited for; far below any idle limit that makes sense. */
const personMs = 1000;

/**
 * Every message that gets on is a sign of life; pings are none. Announced retries (`api_retry`) are for as long as `retryLifeMs` after the last other one: Claude
 * may be told to retry for hours, and is as good as silent then.
 */
export function createClaudeLife(clock: Clock, touch: () => void, retryLifeMs: number): ClaudeLife {
  const heard = createRetryLife(clock, touch, retryLifeMs);
  let waiting = 0;
  let timer: Timer | undefined;

  const again = (): void => {
    touch();
    timer = clock.setTimeout(again, personMs);
  };
  const stop = (): void => {
    clock.clearTimeout(timer);
    timer = undefined;
  };

  return {
    heard: (message) => heard(claudeSign(message)),
    waitForPerson() {
      if (++waiting === 1) again();
      let released = false;
      return () => {
        if (released) return;
        released = true;
        heard('progress');
        if (--waiting === 0) stop();
      };
    },
    stop,
  };
}
