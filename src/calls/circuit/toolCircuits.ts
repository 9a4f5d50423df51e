import type { CountedFailure } from '../../policy/records/breakerCause.ts';
import type { BreakerRule } from '../../policy/breakerRule.ts';
import type { FailureFacts } from '../../policy/failures/failure.ts';
import { type Call, toolName } from '../call.ts';
import type { CallPathOptions } from '../callPathOptions.ts';
import type { RefusalEpisode } from '../recorder/callRecords.ts';
import type { EffectQueue } from '../recorder/effectQueue.ts';
import * as refusal from '../refusal.ts';
import { ToolCircuit } from './toolCircuit.ts';

/** Most circuits of tools an integration has; those that are isolated come on top. */
const mostCircuits = 1000;

/** The circuit of a tool as an operator sees it. */
export type ToolCircuitState = 'closed' | 'open' | 'half-open' | 'isolated';

/** The circuit of a tool that is not closed. */
export interface OpenToolCircuit {
  readonly tool: string;
  readonly circuit: Exclude<ToolCircuitState, 'closed'>;
  /** Time in ms from now until the next call of the tool tries an open one; 0 when that is due. */
  readonly probeInMs?: number | undefined;
  /** Rule that opened an open one. */
  readonly rule?: BreakerRule | undefined;
}

/** Moves on when the circuit of a tool has opened. */
export interface ToolWatcher {
  toolOpened(tool: string): void;
}

/**
 * The circuits of an integration's tools: a tool whose calls pass their limit while the integration answers is left alone, and takes nobody
 * with it. There is one from the first such call of a tool until its calls have been well again; most integrations never have any.
 */
export class ToolCircuits<I, O> {
  /** Number of them; every call asks for it. */
  size = 0;
  readonly #options: CallPathOptions<I, O>;
  readonly #queue: EffectQueue;
  readonly #watcher: ToolWatcher;
  readonly #circuits = new Map<string, ToolCircuit<I, O>>();
  #uses = 0;

  /** @param queue - where facts go out. */
  constructor(options: CallPathOptions<I, O>, queue: EffectQueue, watcher: ToolWatcher) {
    this.#options = options;
    this.#queue = queue;
    this.#watcher = watcher;
  }

  /** The tool a call calls; undefined where it calls none. */
  toolOf({ input }: Call<I, O>): string | undefined {
    return toolName(this.#options, input);
  }

  stateOf(tool: string): ToolCircuitState {
    const circuit = this.#circuits.get(tool);
    return circuit === undefined ? 'closed' : stateOf(circuit);
  }

  /** Circuits that are not closed, by the name of the tool. */
  get open(): readonly OpenToolCircuit[] {
    if (this.size === 0) return [];
    const now = this.#options.clock.now();
    const open = [...this.#circuits].flatMap(([tool, each]): readonly OpenToolCircuit[] => {
      const circuit = stateOf(each);
      if (circuit === 'closed') return [];
      if (circuit !== 'open') return [{ tool, circuit }];
      const probeInMs = Math.max(0, Math.round(each.openUntil - now));
      return [{ tool, circuit, probeInMs, rule: each.failures.cause?.rule }];
    });
    return open.sort((one, other) => (one.tool < other.tool ? -1 : 1));
  }

  /** A session is erased: nothing of its calls is quoted any more. */
  forgetSession(session: string): void {
    for (const { failures } of this.#circuits.values()) failures.forget(session);
  }

  /** Lets the next call of a tool try its open circuit, whatever time is left. */
  probeSoon(tool: string): void {
    const circuit = this.#circuits.get(tool);
    if (circuit !== undefined) circuit.openUntil = Math.min(circuit.openUntil, this.#options.clock.now());
  }

  /** The refusals of the tool of a call since it let one pass. */
  episodeOf(call: Call<I, O>): RefusalEpisode | undefined {
    return this.#find(this.toolOf(call))?.refusals;
  }

  /** Returns the facts for a call that the circuit of its tool does not let pass; undefined when it does. */
  refusalOf(call: Call<I, O>, now: number, cause = call.progress.lastFailure): FailureFacts | undefined {
    const tool = this.toolOf(call);
    const circuit = this.#find(tool);
    if (tool === undefined || circuit === undefined || !circuit.refuses(call, now)) return undefined;
    const name = nameOf(tool, this.#options.name);
    const keptBy = circuit.probe === undefined ? 'time' : 'probe';
    return refusal.circuitOpen(name, circuit.probeAt - now, cause, circuit.failures, keptBy);
  }

  /** A call is about to be dispatched. @returns whether it tries the open circuit of its tool from here on. */
  takeProbe(call: Call<I, O>): boolean {
    const circuit = this.#find(this.toolOf(call));
    if (circuit === undefined || circuit.openUntil === 0 || circuit.probe === call) return false;
    circuit.probe = call;
    circuit.refusals.kind = undefined;
    return true;
  }

  /** Tells that a call tries the open circuit of its tool. */
  tellProbe(call: Call<I, O>): void {
    const tool = this.toolOf(call);
    this.#queue.tell({ type: 'breaker.half_opened', integration: this.#options.name, tool });
  }

  /** A call of a tool passed its limit, and the integration answers others. */
  failed(call: Call<I, O>, failure: CountedFailure): void {
    const tool = this.toolOf(call);
    if (tool === undefined) return;
    const { name, clock } = this.#options;
    const circuit = this.#of(tool);
    const openForMs = circuit.failed(call, failure, clock.now());
    if (openForMs === undefined) return;
    const { message: cause, failures, rule } = circuit.failures.cause ?? {};
    const { kind } = failure;
    this.#queue.tell({ type: 'breaker.opened', integration: name, tool, openForMs, kind, rule, cause, failures });
    this.#watcher.toolOpened(tool);
  }

  /** A call ended within its limit: with a value, or with an error of its own. */
  answered(call: Call<I, O>): void {
    const tool = this.toolOf(call);
    const circuit = this.#find(tool);
    if (tool === undefined || circuit === undefined) return;
    const wasProbe = circuit.probe === call;
    const isWell = circuit.answered(call, this.#options.clock.now());
    if (isWell && !circuit.isIsolated) this.#forget(tool);
    if (wasProbe) this.#tellClosed(tool);
  }

  /** A call ended in a way that says nothing of its tool: another may try. */
  ignored(call: Call<I, O>): void {
    const circuit = this.#find(this.toolOf(call));
    if (circuit?.probe === call) circuit.probe = undefined;
  }

  /** Forces the circuit of a tool open until the returned function is called (once). */
  isolate(tool: string): () => void {
    const circuit = this.#of(tool);
    const holder = {};
    const wasIsolated = circuit.isIsolated;
    circuit.holders.add(holder);
    if (!wasIsolated) {
      const openForMs = Number.POSITIVE_INFINITY;
      const isolated = { kind: 'isolated', rule: { name: 'isolated' } } as const;
      this.#queue.tell({ type: 'breaker.opened', integration: this.#options.name, tool, openForMs, ...isolated });
      this.#watcher.toolOpened(tool);
    }
    return () => {
      if (!circuit.holders.delete(holder) || circuit.isIsolated) return;
      if (!circuit.isOpen) {
        this.#forget(tool);
        this.#tellClosed(tool);
      }
    };
  }

  /** Closes the circuit of a tool, whoever holds it open. */
  reset(tool: string): void {
    const circuit = this.#circuits.get(tool);
    if (circuit === undefined) return;
    const wasOpen = circuit.isOpen;
    circuit.holders.clear();
    circuit.close();
    this.#forget(tool);
    if (wasOpen) this.#tellClosed(tool);
  }

  resetAll(): void {
    for (const tool of [...this.#circuits.keys()]) this.reset(tool);
  }

  /** The server has started anew, and its tools with it; what is isolated stays so. */
  restarted(): void {
    for (const [tool, circuit] of [...this.#circuits]) {
      if (!circuit.isIsolated) this.reset(tool);
      else circuit.close();
    }
  }

  #find(tool: string | undefined): ToolCircuit<I, O> | undefined {
    const circuit = tool === undefined ? undefined : this.#circuits.get(tool);
    if (circuit !== undefined) circuit.used = ++this.#uses;
    return circuit;
  }

  #of(tool: string): ToolCircuit<I, O> {
    const known = this.#find(tool);
    if (known !== undefined) return known;
    if (this.#circuits.size >= mostCircuits) this.#dropOldest();
    const circuit = new ToolCircuit<I, O>(this.#options.policy.breaker);
    circuit.used = ++this.#uses;
    this.#circuits.set(tool, circuit);
    this.size = this.#circuits.size;
    return circuit;
  }

  /** Drops the oldest; one that an operator isolated would otherwise be called again without a word. */
  #dropOldest(): void {
    let oldest: string | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const [tool, circuit] of this.#circuits) {
      if (circuit.isIsolated || circuit.used >= least) continue;
      oldest = tool;
      least = circuit.used;
    }
    if (oldest !== undefined) this.reset(oldest);
  }

  #forget(tool: string): void {
    this.#circuits.delete(tool);
    this.size = this.#circuits.size;
  }

  #tellClosed(tool: string): void {
    this.#queue.tell({ type: 'breaker.closed', integration: this.#options.name, tool });
  }
}

function stateOf<I, O>({ isOpen, isIsolated, probe }: ToolCircuit<I, O>): ToolCircuitState {
  if (!isOpen) return 'closed';
  if (isIsolated) return 'isolated';
  return probe === undefined ? 'open' : 'half-open';
}

function nameOf(tool: string, integration: string): string {
  return `the tool ${tool} of ${integration}`;
}
