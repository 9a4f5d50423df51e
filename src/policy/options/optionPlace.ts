import { nearest } from '../text/nearest.ts';
import type { KeyData, Keys } from './optionKeys.ts';

/** A known option, and where it is from the object in which another name was not known. */
type Place = readonly string[];

/** So far below an object its options are looked for. */
const mostSteps = 3;

/**
 * The options that an unknown name may have meant: of the same name in an inner object, what is called so elsewhere, what is written
 * almost so.
 * @returns none when nothing is like it, several where it is in several places.
 */
export function placesOf(name: string, keys: Keys): readonly Place[] {
  const places = placesIn(keys);
  const called = (word: string): readonly Place[] =>
    nearestOnes(places.filter((place) => place.at(-1)?.toLowerCase() === word.toLowerCase()));
  const same = called(name);
  const own = ourNames(name)
    .map(called)
    .find((found) => found.length > 0);
  // As near as one of the same name is what is called so elsewhere: `timeoutMs` is the limit of an attempt, not that of a probe.
  if (own !== undefined && (same.length === 0 || stepsTo(own) <= stepsTo(same))) return own;
  if (same.length > 0) return same;
  for (let steps = 1; steps <= mostSteps; steps += 1) {
    const close = nearest(
      name,
      places.filter((place) => place.length === steps).map((place) => place.at(-1) as string),
    );
    if (close !== undefined) return called(close);
  }
  return [];
}

/** Picks those with the fewest steps. */
function nearestOnes(places: readonly Place[]): readonly Place[] {
  const least = stepsTo(places);
  return places.filter((place) => place.length === least);
}

function stepsTo(places: readonly Place[]): number {
  return Math.min(...places.map((place) => place.length));
}

/** Every option within reach, but those under names that users choose. */
function placesIn(keys: Keys, above: Place = []): readonly Place[] {
  return Object.entries<KeyData>(keys).flatMap(([name, key]) => {
    const place = [...above, name];
    const inner = place.length < mostSteps ? tablesOf(key) : [];
    return [place, ...inner.flatMap((table) => placesIn(table, place))];
  });
}

function tablesOf(key: KeyData): readonly Keys[] {
  if (key.kind === 'object') return [key.keys];
  if (key.kind === 'variants') return [keysOfAll(key)];
  if (key.kind === 'either') return key.of.flatMap(tablesOf);
  return key.table === undefined ? [] : [key.table];
}

/** The keys of all variants, as if they were one table. */
export function keysOfAll({ of }: Extract<KeyData, { kind: 'variants' }>): Keys {
  return Object.fromEntries(Object.values(of).flatMap((keys) => Object.entries(keys)));
}

/**
 * Names that others give our options (opossum, cockatiel, p-retry, p-limit, p-queue, Polly), and that ours had before; by our names, the likeliest first
 * where one name of theirs is several of ours.
 */
const foreign: Readonly<Record<string, string>> = {
  maxAttempts: 'attempts retries maxRetries maxRetryAttempts retryCount retryLimit',
  maxInFlight:
    'maxConcurrent maxConcurrency concurrency capacity maxParallelism maxParallelization permitLimit bulkhead',
  queueLength: 'queue queueSize queueLimit maxQueue maxQueueSize maxQueuingActions queueCapacity',
  attemptMs: 'timeout timeoutMs executionTimeout requestTimeout deadline',
  overallMs: 'timeoutMs timeout totalTimeout overallTimeout deadline callMs',
  idleMs: 'idleTimeout stallMs stallTimeout inactivityTimeout heartbeatTimeout',
  retry: 'retryPolicy retryOptions retryStrategy',
  backoff: 'delay backoffType delayBackoffType retryDelay backoffStrategy',
  initialMs: 'baseMs initialDelay baseDelay minTimeout minDelay medianFirstRetryDelay',
  maxMs: 'capMs maxDelay maxTimeout maxBackoff',
  factor: 'exponent multiplier',
  jitter: 'useJitter randomize',
  maxTotalWaitMs: 'maxRetryTime maxElapsedTime',
  repeatAfter: 'retryUnspecified',
  breaker: 'circuitBreaker circuit breakerOptions circuitBreakerOptions',
  consecutiveFailures: 'failureThreshold threshold exceptionsAllowedBeforeBreaking handledEventsAllowedBeforeBreaking',
  failureRatio: 'errorThresholdPercentage threshold failureRateThreshold',
  minimumAttempts: 'volumeThreshold minimumThroughput minimumRps minimumCalls',
  windowMs: 'rollingCountTimeout samplingDuration window',
  resetTimeoutMs: 'resetTimeout halfOpenAfter breakDuration durationOfBreak openTimeout cooldown',
  extends: 'preset',
  handshakeMs: 'startMs startTimeout',
  approvalMs: 'approvalTimeoutMs',
  signal: 'abortSignal cancellationToken',
};

const ours = new Map<string, string[]>();
for (const [name, theirs] of Object.entries(foreign)) {
  for (const each of theirs.split(' ')) {
    const key = each.toLowerCase();
    ours.set(key, [...(ours.get(key) ?? []), name]);
  }
}

/** Finds what an option is called here that has this name elsewhere; the likeliest first. */
export function ourNames(name: string): readonly string[] {
  return ours.get(name.toLowerCase()) ?? [];
}
