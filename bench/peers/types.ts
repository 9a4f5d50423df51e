// What the suites use of each peer, and no more.

/** cockatiel 4. */
export interface Cockatiel {
  readonly handleAll: unknown;
  handleWhen(handles: (error: Error) => boolean): unknown;
  isBrokenCircuitError(error: unknown): boolean;
  readonly ConstantBackoff: new (delayMs: number) => object;
  readonly ExponentialBackoff: new (options: { initialDelay: number; maxDelay: number }) => object;
  readonly ConsecutiveBreaker: new (failures: number) => object;
  readonly TimeoutStrategy: { readonly Aggressive: unknown };
  retry(handles: unknown, options: { maxAttempts: number; backoff: object }): CockatielPolicy;
  circuitBreaker(handles: unknown, options: { halfOpenAfter: number; breaker: object }): CockatielPolicy;
  timeout(durationMs: number, how: unknown): CockatielPolicy;
  wrap(...policies: readonly CockatielPolicy[]): CockatielPolicy;
}

export interface CockatielPolicy {
  execute<T>(work: (context: { readonly signal: AbortSignal }) => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** opossum 10. */
export interface Opossum {
  readonly default: new <T>(work: (input: number) => Promise<T>, options: object) => OpossumBreaker<T>;
}

export interface OpossumBreaker<T> {
  fire(input: number): Promise<T>;
  open(): void;
  shutdown(): void;
}

/** p-retry 9. */
export interface PRetry {
  default<T>(work: () => Promise<T>, options: PRetryOptions): Promise<T>;
}

export interface PRetryOptions {
  readonly retries: number;
  readonly minTimeout: number;
  readonly factor: number;
  readonly signal?: AbortSignal | undefined;
}

/** p-timeout 8. */
export interface PTimeout {
  default<T>(promise: Promise<T>, options: { milliseconds: number; signal?: AbortSignal | undefined }): Promise<T>;
}

/** effect 4. */
export interface EffectPackage {
  readonly Effect: {
    tryPromise(work: (signal: AbortSignal) => Promise<unknown>): Step;
    retry(step: Step, options: { times: number; schedule: unknown }): Step;
    timeout(step: Step, durationMs: number): Step;
    runPromise(step: Step, options?: { signal: AbortSignal }): Promise<unknown>;
  };
  readonly Schedule: {
    exponential(baseMs: number): unknown;
    spaced(everyMs: number): unknown;
  };
}

/** An effect: what is to be done, described. */
export type Step = object;
