import type { IntegrationState } from '../machines/integration.ts';
import type { Effect } from '../policy/effects.ts';
import type { FailureFacts, Outcome } from '../policy/failures/failure.ts';
import { name } from '../policy/options/optionKeys.ts';
import { noteIn, type OrderNote, type OrderResult } from '../policy/operatorOrder.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import { readValue } from '../policy/options/readOptions.ts';
import type { KnownTool } from '../policy/toolOptions.ts';
import { type CallStream, RelayedStream } from '../streams/callStream.ts';
import type { ChunkOf } from '../streams/chunkSource.ts';
import {
  type CallOptions,
  type CallSettings,
  type CallStreamOptions,
  defaultSettings,
  settingsOf,
  settingsOfStream,
  settingsOfTool,
} from './callOptions.ts';
import type { CallPath } from './callPath.ts';
import type { CallStats } from './callPathOptions.ts';
import type { MachineLink } from './circuit/machineLink.ts';
import type { Operation } from './operation.ts';
import type { ToolCircuitState } from './circuit/toolCircuits.ts';
import { ChunkRelay, type Resume, type StreamEnd } from '../streams/chunkRelay.ts';
import type { Call } from './call.ts';
import { errorText } from './errorText.ts';
import * as refusal from './refusal.ts';

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
   * Has an open circuit probed now and not when its time has come, or lets a call through to a server that asked not to be called: where it is
   * answered, the rest may follow. Where its circuit is closed and those of tools are open, the next call of each is let through. One probe at a time, also of all processes on one store. Where there is nothing to probe the result says so.
   * @throws TypeError when the note is none.
   */
  probe(note?: OrderNote): OrderResult;
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

/** Function that settles the promise made last. */
let resolveKept: (outcome: never) => void;

// A single one does for all promises: with one made for each, and all it keeps, a call would allocate a tenth more.
function keepResolve(resolve: (outcome: never) => void): void {
  resolveKept = resolve;
}

/** Something outside that can be called: supervised, and behind one breaker. `C` is what its streams give. */
export interface Integration<I, O, C = ChunkOf<O>> {
  readonly name: string;
  readonly breaker: BreakerHandle;
  /** The state of its machine, as of now. Before its first start, and after its stop, `idle`. */
  readonly state: IntegrationState;
  /** True once its first start is over, well or not, and nobody has stopped it since. */
  readonly started: boolean;
  readonly stats: CallStats;
  readonly policy: IntegrationPolicy;
  /**
   * Calls the integration. Never rejects: the outcome holds the value or the failure, at the deadline at the latest.
   * @throws TypeError or RangeError at once when an option is wrong.
   */
  call(input: I, options?: CallOptions<I, O>): Promise<Outcome<O>>;
  /**
   * Calls an integration whose operation answers with a stream, and supervises it to its end: limits, permit, breaker and record are those
   * of the end, not of the first byte. A response of `fetch` that is not ok is a failure. Begins at once.
   * @throws TypeError or RangeError at once when an option is wrong.
   */
  stream(input: I, options?: CallStreamOptions<I, C>): CallStream<C>;
  /**
   * Ends the call that holds a scope, as if its caller had aborted it with `reason`.
   * @returns whether there was one.
   * @throws TypeError or RangeError when `scope` is no name.
   */
  cancelScope(scope: string, reason?: unknown): boolean;
}

/** An integration over its call path. */
export class CallableIntegration<I, O, C = ChunkOf<O>> implements Integration<I, O, C> {
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
    const own = settingsFor(input, this.#settings, this.#toolOf);
    const settings = options === undefined ? own : settingsOf(own, options);
    const promise = new Promise<Outcome<O>>(keepResolve);
    this.#path.start(input, settings, resolveKept as (outcome: Outcome<O>) => void);
    return promise;
  }

  stream(input: I, options: CallStreamOptions<I, C> = {}): CallStream<C> {
    return this.streamBy(undefined, input, options);
  }

  /** A stream that an operation of its own answers with. */
  protected streamBy<D>(
    operation: Operation<I, AsyncIterable<D>> | undefined,
    input: I,
    options: CallStreamOptions<I, D>,
  ): CallStream<D> {
    const settings = settingsOfStream(settingsFor(input, this.#settings, this.#toolOf), options);
    return startStream(this.#path, input, settings, options.resume, operation);
  }

  cancelScope(scope: string, reason?: unknown): boolean {
    readValue('scope', scope, name);
    return this.#path.endScope(scope, reason ?? new Error(`the scope ${scope} was cancelled`));
  }
}

/** The settings of a call without options: those of its tool, where that has any. */
function settingsFor<I, O>(
  input: I,
  settings: CallSettings<I, O>,
  toolOf: ((input: I) => KnownTool | undefined) | undefined,
): CallSettings<I, O> {
  const tool = toolOf?.(input);
  return tool === undefined ? settings : settingsOfTool(settings, tool);
}

/** Reads the state of the circuit from the machine's. */
export function circuitOf({ state, openUntil }: Pick<MachineLink, 'state' | 'openUntil'>): BreakerHandle['state'] {
  if (state === 'idle' || state === 'calling' || state === 'backoff') return 'closed';
  return state === 'open' && openUntil === Number.POSITIVE_INFINITY ? 'isolated' : state;
}

function breakerHandle<I, O>(path: CallPath<I, O>): BreakerHandle {
  return {
    get state() {
      return circuitOf(path.link);
    },
    isolate: () => path.isolate(),
    reset: () => path.reset(),
    probe: (note) => path.probe(noteIn(note)),
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

/**
 * Makes a call whose answer is a stream, and gives its reader the stream at once.
 * @param operation - answers with the stream; without it, what the integration does for a stream.
 */
function startStream<I, O, C>(
  path: CallPath<I, O>,
  input: I,
  settings: CallSettings<I, O>,
  resume: Resume<I, C> | undefined,
  operation?: Operation<I, AsyncIterable<C>>,
): CallStream<C> {
  // Refused at once, a call is settled before there is a row to end.
  let call: Call<I, O> | undefined;
  const relay = new ChunkRelay(resume);
  const outcome = new Promise<Outcome<StreamEnd>>((resolve) => {
    // The call does not end with the answer of its operation, but with the end of that.
    const settled = (ended: Outcome<unknown>): void => {
      resolve(ended as Outcome<StreamEnd>);
      relay.settled(ended as Outcome<StreamEnd>);
    };
    call = path.start(input, { ...settings, stream: relay, streamed: operation }, settled);
  });
  const stream = new RelayedStream(relay, outcome, (reason, isReader) => {
    if (call !== undefined && !call.settled)
      path.end(call, streamCancelled(reason, isReader, call.attempt !== undefined));
  });
  return Object.assign(stream, { outcome });
}

/** Why a stream ended that its reader, or its caller, wants no more of. */
export function streamCancelled(reason: unknown, isReader: boolean, inFlight: boolean): FailureFacts {
  const facts = refusal.cancelled(reason, inFlight);
  if (!isReader) return facts;
  const why = errorText(reason);
  const message = why === undefined ? 'The reader left the stream' : `The reader left the stream: ${why}`;
  return { ...facts, reason: 'reader_left', message };
}
