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
