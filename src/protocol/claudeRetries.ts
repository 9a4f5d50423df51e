import { classify } from '../policy/failures/classify.ts';
import type { FailureFacts } from '../policy/failures/failure.ts';

type Message = Readonly<Record<string, unknown>>;

/** The variable that bounds how often Claude repeats a failed request by itself. */
export const claudeRetriesName = 'CLAUDE_CODE_MAX_RETRIES';

/**
 * Limit on it where we try again ourselves: once, not never. Claude prints no header of the API, but it repeats a request that was limited only when the API
 * asks for 60 s or less (measured with 2.1.329): so that it does, or does not, is all that tells of a longer wait.
 */
export const boundedClaudeRetries = '1';

/** Tells whether Claude may repeat a request by itself, with that value of its variable; without one it does so ten times. */
export const mayRetryItself = (value: string | undefined): boolean => value === undefined || Number(value) > 0;

/** Above this a delay is what the API asked for; Claude's own first one is shorter, in ms. */
const longestOwnDelayMs = 2000;

/** The first release of which it is known that it tells of its own retries. */
const tellingRelease = [2, 1, 261];

function tells(release: unknown): boolean {
  const parts = typeof release === 'string' ? release.split('.').map(Number) : [];
  for (const [place, least] of tellingRelease.entries()) {
    const part = parts[place] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}

/** Claude's own retries of the request under way, as it told of them. */
export class ClaudeRetries {
  #tells = false;
  #last: Message | undefined;
  #waits = false;

  /** The run begins. @param message - names the release. */
  began(message: Message): void {
    this.#tells = tells(message['claude_code_version']);
  }

  /** It is about to ask the API again. */
  told(notice: Message): void {
    // It is told every 30 s of one wait, each time with what is left of that: what the API asked for is the first.
    const { attempt, retry_delay_ms: delayMs } = this.#last ?? {};
    const isSameWait = this.#waits && attempt !== undefined && attempt === notice['attempt'];
    const firstMs = isSameWait ? atLeast(notice['retry_delay_ms'], delayMs) : notice['retry_delay_ms'];
    this.#last = { ...notice, retry_delay_ms: firstMs };
    this.#waits = true;
  }

  /** Why Claude waits to ask again; undefined when it does not. @param wallNow - wall time in ms. */
  waiting(wallNow: number): FailureFacts | undefined {
    if (this.#last === undefined || !this.#waits) return undefined;
    const { error_status: status, error, retry_delay_ms: delayMs, attempt, max_retries: most } = this.#last;
    const isStatus = typeof status === 'number';
    const why = [isStatus ? `HTTP ${status}` : '', typeof error === 'string' ? error : ''].filter(
      (each) => each !== '',
    );
    const message = `it asks again (${String(attempt)} of ${String(most)}${why.length === 0 ? '' : `: ${why.join(' ')}`})`;
    const facts = classify({ message, ...(isStatus && { status }) }, { wallNow });
    const isHint = status === 429 && attempt === 1 && typeof delayMs === 'number' && delayMs > longestOwnDelayMs;
    return { ...facts, cause: undefined, ...(isHint && { retryAfterMs: Math.ceil(delayMs) }) };
  }

  /** An answer comes, piece by piece. */
  gotOn(): void {
    this.#waits = false;
  }

  /** The request was answered. */
  answered(): void {
    this.#last = undefined;
  }

  /**
   * A limit of the API that ended the run, with what can be known of its length.
   * @param isStream - whether all that Claude told was heard.
   */
  judge(facts: FailureFacts, isStream: boolean): FailureFacts {
    // Nothing tells whether the API asked for a second or for an hour: Claude has asked again already where it was short.
    if (!isStream) return { ...facts, shouldRetry: false, message: `${facts.message}; ${untold}` };
    if (!this.#tells) return facts;
    const { attempt, max_retries: most, retry_delay_ms: delayMs, error_status: status } = this.#last ?? {};
    const stopped = typeof attempt !== 'number' || typeof most !== 'number' || attempt < most;
    if (stopped) return { ...facts, kind: 'quota', message: `${facts.message}; ${untold}, only that it is over 1m` };
    const isHint = attempt === 1 && status === 429 && typeof delayMs === 'number' && delayMs > longestOwnDelayMs;
    return isHint ? { ...facts, retryAfterMs: Math.ceil(delayMs) } : facts;
  }
}

const atLeast = (ms: unknown, least: unknown): unknown =>
  typeof ms === 'number' && typeof least === 'number' ? Math.max(ms, least) : ms;

const untold = 'Claude does not tell how long the API asks to wait';
