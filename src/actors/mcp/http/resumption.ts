import { AttemptError } from '../../../policy/failures/failure.ts';
import { type Clock } from '../../../policy/clock.ts';
import { inTime } from '../../../policy/inTime.ts';
import { dropBody, type HttpAnswer } from '../../../streams/readBody.ts';
import { isEventStream } from './eventStream.ts';

interface Resumption {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Asks for what follows an event. */
  readonly open: (lastEventId: string, signal: AbortSignal) => Promise<HttpAnswer>;
  /** Reads what comes; resolves when it ended. */
  readonly read: (response: HttpAnswer) => Promise<string>;
  /** The last event that came, and how long the server asked to be left alone, in ms. */
  readonly place: () => { readonly lastEventId: string; readonly retryMs: number | undefined };
  readonly isDone: () => boolean;
}

/** Tries in a row that bring nothing new. */
const mostTries = 5;
/** Time in ms that the server may take over the headers. */
const headersMs = 10_000;
const usualRetryMs = 1000;
const longestWaitMs = 30_000;

/**
 * Reads on where a stream of the era with sessions broke off, as often as that brings something. The client of the protocol forgets the event
 * ID with the second break, and has no limit on the question.
 * @returns why there is nothing more to hope for; undefined when the answer came, or nobody waits for it.
 */
export async function resumeAnswer(resumption: Resumption): Promise<string | undefined> {
  const { clock, signal, place, isDone } = resumption;
  let why = '';
  for (let tries = 0; tries < mostTries; tries++) {
    const { lastEventId, retryMs = usualRetryMs } = place();
    const waitMs = Math.min(longestWaitMs, Math.max(retryMs, tries === 0 ? 0 : 250 * 2 ** tries));
    await inTime(new Promise<never>(() => undefined), { clock, signal, limitMs: waitMs });
    if (signal.aborted) return undefined;
    const opened = await opening(resumption, lastEventId);
    if (signal.aborted) return undefined;
    if (typeof opened === 'object') why = await resumption.read(opened);
    else if (opened === 'unreachable') why = 'the server could not be reached again';
    else return opened;
    if (isDone() || signal.aborted) return undefined;
    if (place().lastEventId !== lastEventId) tries = -1;
  }
  return `it did not come after ${mostTries} tries: ${why}`;
}

/** The stream, or why there is none; `unreachable` where it may be there the next time. */
async function opening({ clock, signal, open }: Resumption, lastEventId: string): Promise<HttpAnswer | string> {
  const own = new AbortController();
  const abort = (): void => own.abort();
  signal.addEventListener('abort', abort, { once: true });
  const timer = clock.setTimeout(abort, headersMs, { running: true });
  try {
    const response = await open(lastEventId, own.signal);
    if (response.ok && isEventStream(response)) return response;
    dropBody(response);
    return `the server does not go on with it (HTTP ${response.status})`;
  } catch (error) {
    if (own.signal.aborted) return 'the server did not say whether it goes on with it';
    const isReachable = error instanceof AttemptError && error.facts.status !== undefined;
    return isReachable ? `the server does not go on with it (HTTP ${error.facts.status})` : 'unreachable';
  } finally {
    clock.clearTimeout(timer);
  }
}
