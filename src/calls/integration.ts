import type { IntegrationState } from '../machines/integration.ts';
import { backoffFrom, type BackoffInput, backoffKey } from '../policy/backoff.ts';
import { type Effect, effects } from '../policy/effects.ts';
import type { Outcome } from '../policy/failure.ts';
import type { Duration } from '../policy/duration.ts';
import {
  anything,
  boolean,
  choice,
  duration,
  integer,
  type Key,
  type KeysOf,
  name,
  signal,
  type Tell,
  text,
  type Values,
} from '../policy/optionKeys.ts';
import { readGiven, readValue } from '../policy/readOptions.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import type { CallSettings } from './callSettings.ts';
import type { CallPath } from './callPath.ts';
import type { CallStats } from './callPathOptions.ts';
import { type FallbackOption, fallbackOf } from './fallback.ts';
import type { MachineLink } from './machineLink.ts';
import type { ToolCircuitState } from './toolCircuits.ts';
import { type KnownTool, toolLimits } from '../policy/toolOptions.ts';
import { isRetried } from './workSignal.ts';

/** How one call differs from its integration's policy. */
export interface CallOptions<I, O> {
  /**
   * Ends the call when aborted; an aborted one never starts the operation. Its reason is kept as the failure's cause. With the signal of an
   * item of a workflow the call makes one attempt unless `maxAttempts` is given: the item is what is tried again.
   */
  readonly signal?: AbortSignal | undefined;
  /** What the call may do to the world. @defaultValue unspecified: the policy's `retry.repeatAfter` says after what it is tried again */
  readonly effect?: Effect | undefined;
  /** Names the call in events and records. */
  readonly label?: string | undefined;
  /**
   * Calls of one scope run one at a time: while one is under way a second is refused (`too_many_requests`, `scope_busy`). Work that
   * was given up may still be ending; it is waited for, at most its grace, and keeps its scope until it ends or the integration is
   * restarted or reset. Said by who calls, never by what an agent asks for.
   * @defaultValue none
   */
  readonly scope?: string | undefined;
  /** Ends the call that holds the scope (`cancelled`, `replaced`) instead of being refused; only with `scope`. @defaultValue false */
  readonly replace?: boolean | undefined;
  /** Attempts in all, at least 1. @defaultValue the policy's */
  readonly maxAttempts?: number | undefined;
  /** The waits between attempts, such as `{ initialMs: 200, maxMs: 5000 }`. @defaultValue the policy's */
  readonly backoff?: BackoffInput | undefined;
  /** Without a sign of life, per attempt, in ms. @defaultValue the policy's */
  readonly idleMs?: Duration | undefined;
  /** Per attempt, in ms. @defaultValue the policy's */
  readonly attemptMs?: Duration | undefined;
  /** For the whole call, in ms. @defaultValue the policy's */
  readonly overallMs?: Duration | undefined;
  /** Answers when the integration cannot, within the call's own deadline: a function, `{ value }` or `{ integration }`. */
  readonly fallback?: FallbackOption<I, O> | undefined;
}

/** Who a call gives way to. */
export const scopeKeys = { scope: text(), replace: boolean() };

const callKeys = {
  ...scopeKeys,
  signal,
  effect: choice(effects),
  label: text(),
  maxAttempts: integer(),
  backoff: backoffKey,
  idleMs: duration(),
  attemptMs: duration(),
  overallMs: duration(),
  fallback: anything as Key<FallbackOption<never, never> | undefined>,
} satisfies KeysOf<CallOptions<never, never>>;

/** The breaker of an integration, for operators. */
export interface BreakerHandle {
  /** As of now, also within an event-loop turn. */
  readonly state: 'closed' | 'open' | 'half-open' | 'isolated' | 'crashed';
  /**
   * Forces the circuit open until the returned release is called (once; more calls do nothing). Isolations are counted. A circuit that was
   * open before goes back to `open` with its old time: the next call after that time probes it. Else it closes.
   */
  isolate(): () => void;
  /** Closes the circuit, whoever holds it open, and those of its tools, and forgets what was counted. */
  reset(): void;
  /**
   * The circuit of one tool beside that of the integration: calls of the tool that pass their limit while the integration answers others
   * count for it alone. A tool that was never in trouble has a closed one.
   * @throws TypeError or RangeError when `tool` is no name.
   */
  of(tool: string): ToolBreakerHandle;
}

/** The breaker of one tool, for operators. It is not kept over a restart. */
export interface ToolBreakerHandle {
  /** As of now. */
  readonly state: ToolCircuitState;
  /** Refuses calls of the tool until the returned release is called (once; more calls do nothing). Isolations are counted. */
  isolate(): () => void;
  /** Closes the circuit, whoever holds it open, and forgets what was counted. */
  reset(): void;
}

/** What settles the promise made last. */
let resolveKept: (outcome: never) => void;

// One for all promises: with one made for each, and what it keeps, a call would allocate a tenth more.
function keepResolve(resolve: (outcome: never) => void): void {
  resolveKept = resolve;
}

/** Something outside that can be called: supervised, and behind one breaker. */
export interface Integration<I, O> {
  readonly name: string;
  readonly breaker: BreakerHandle;
  /** The state of its machine, as of now. Before its first start, and after its stop, `idle`. */
  readonly state: IntegrationState;
  /** Whether its first start is over, well or not, and nobody has stopped it since. */
  readonly started: boolean;
  readonly stats: CallStats;
  readonly policy: IntegrationPolicy;
  /**
   * Calls the integration. Never rejects: the outcome holds the value or the failure, at the deadline at the latest.
   * @throws TypeError or RangeError at once when an option is wrong.
   */
  call(input: I, options?: CallOptions<I, O>): Promise<Outcome<O>>;
  /**
   * Ends the call that holds a scope, as if its caller had aborted it with `reason`.
   * @returns whether there was one.
   * @throws TypeError or RangeError when `scope` is no name.
   */
  cancelScope(scope: string, reason?: unknown): boolean;
}

/** An integration over its call path. */
export class CallableIntegration<I, O> implements Integration<I, O> {
  readonly name: string;
  readonly breaker: BreakerHandle;
  readonly #path: CallPath<I, O>;
  readonly #settings: CallSettings<I, O>;
  readonly #toolOf: ((input: I) => KnownTool | undefined) | undefined;

  /**
   * @param effect - of calls that say nothing of it.
   * @param toolOf - the tool an input calls, where the integration has tools with settings of their own.
   */
  constructor(path: CallPath<I, O>, effect?: Effect, toolOf?: (input: I) => KnownTool | undefined) {
    this.name = path.name;
    this.#path = path;
    this.#settings = defaultSettings(path.policy, effect);
    this.#toolOf = toolOf;
    this.breaker = breakerHandle(path);
  }

  get state(): IntegrationState {
    return this.#path.link.state;
  }

  get started(): boolean {
    return this.#path.link.started;
  }

  get stats(): CallStats {
    return this.#path.stats;
  }

  get policy(): IntegrationPolicy {
    return this.#path.policy;
  }

  call(input: I, options?: CallOptions<I, O>): Promise<Outcome<O>> {
    const tool = this.#toolOf?.(input);
    const own = tool === undefined ? this.#settings : settingsOfTool(this.#settings, tool);
    const settings = options === undefined ? own : settingsOf(own, options);
    const promise = new Promise<Outcome<O>>(keepResolve);
    this.#path.start(input, settings, resolveKept as (outcome: Outcome<O>) => void);
    return promise;
  }

  cancelScope(scope: string, reason?: unknown): boolean {
    readValue('scope', scope, name);
    return this.#path.endScope(scope, reason ?? new Error(`the scope ${scope} was cancelled`));
  }
}

function defaultSettings<I, O>(policy: IntegrationPolicy, effect: Effect | undefined): CallSettings<I, O> {
  return {
    ...policy.limits,
    retry: policy.retry,
    effect,
    label: undefined,
    session: undefined,
    signal: undefined,
    fallback: undefined,
    isPromised: true,
  };
}

function settingsOfTool<I, O>(defaults: CallSettings<I, O>, tool: KnownTool): CallSettings<I, O> {
  const effect = tool.effect ?? defaults.effect;
  return { ...defaults, ...toolLimits(defaults, tool), effect, learnedEffect: tool.learnedEffect };
}

function settingsOf<I, O>(defaults: CallSettings<I, O>, options: CallOptions<I, O>): CallSettings<I, O> {
  const given = readGiven('options', options, callKeys, scopeRule);
  const { signal, effect, label, scope, replace } = given;
  const { fallback } = options;
  const maxAttempts = given.maxAttempts ?? (isRetried(signal) ? 1 : undefined);
  const backoff = given.backoff === undefined ? undefined : backoffFrom(given.backoff);
  return {
    ownLimits: defaults,
    idleMs: given.idleMs ?? defaults.idleMs,
    attemptMs: given.attemptMs ?? defaults.attemptMs,
    overallMs: given.overallMs ?? defaults.overallMs,
    retry:
      maxAttempts === undefined && backoff === undefined
        ? defaults.retry
        : {
            ...defaults.retry,
            maxAttempts: maxAttempts ?? defaults.retry.maxAttempts,
            backoff: backoff ?? defaults.retry.backoff,
          },
    effect: effect ?? defaults.effect,
    learnedEffect: defaults.learnedEffect,
    label,
    session: undefined,
    scope,
    replace,
    signal,
    isPromised: true,
    fallback:
      fallback === undefined
        ? undefined
        : fallbackOf('options.fallback', fallback, {
            effect: () => effect ?? defaults.effect ?? defaults.learnedEffect?.(),
            repeatAfter: defaults.retry.repeatAfter,
          }),
  };
}

/** There is nothing to replace without a scope. */
export function scopeRule({ scope, replace }: Values<typeof scopeKeys>, tell: Tell): void {
  if (replace === true && scope === undefined) tell('scope', { says: 'beside `options.replace`' });
}

/** What the machine's state means for the circuit. */
export function circuitOf({ state, openUntil }: Pick<MachineLink, 'state' | 'openUntil'>): BreakerHandle['state'] {
  if (state === 'idle' || state === 'calling' || state === 'backoff') return 'closed';
  return state === 'open' && openUntil === Number.POSITIVE_INFINITY ? 'isolated' : state;
}

function breakerHandle<I, O>(path: CallPath<I, O>): BreakerHandle {
  return {
    get state() {
      return circuitOf(path.link);
    },
    isolate: () => path.link.isolate(),
    reset: () => path.reset(),
    of(tool) {
      readValue('tool', tool, name);
      return {
        get state() {
          return path.toolCircuit(tool);
        },
        isolate: () => path.isolateTool(tool),
        reset: () => path.resetTool(tool),
      };
    },
  };
}
