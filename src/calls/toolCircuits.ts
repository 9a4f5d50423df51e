import type { FailureFacts } from '../policy/failure.ts';
import type { Attempt } from './attempt.ts';
import type { Call } from './call.ts';
import * as refusal from './refusal.ts';
import type { Stations } from './stations.ts';
import { ToolCircuit } from './toolCircuit.ts';
import { toolName } from './toolName.ts';

/** Most circuits of tools an integration has; those that are isolated come on top. */
const mostCircuits = 1000;

/** The circuit of a tool as an operator sees it. */
export type ToolCircuitState = 'closed' | 'open' | 'half-open' | 'isolated';

/**
 * The circuits of an integration's tools: a tool whose calls pass their limit while the integration answers is left alone, and takes nobody
 * with it. There is one from the first such call of a tool until its calls have been well again; most integrations never have any.
 */
export class ToolCircuits<I, O> {
  /** How many there are; what every call asks for. */
  size = 0;
  readonly #on: Stations<I, O>;
  readonly #circuits = new Map<string, ToolCircuit<I, O>>();
  #uses = 0;

  constructor(stations: Stations<I, O>) {
    this.#on = stations;
  }

  /** The tool a call calls; undefined where it calls none. */
  toolOf({ input }: Call<I, O>): string | undefined {
    return toolName(this.#on.parts, input);
  }

  stateOf(tool: string): ToolCircuitState {
    const circuit = this.#circuits.get(tool);
    if (circuit === undefined || !circuit.isOpen) return 'closed';
    if (circuit.isIsolated) return 'isolated';
    return circuit.probe === undefined ? 'open' : 'half-open';
  }

  /** Refuses a call that the circuit of its tool does not let pass. @returns whether it did. */
  refuses(call: Call<I, O>, now: number): boolean {
    const facts = this.refusalOf(call, now);
    if (facts === undefined) return false;
    this.#on.endings.refuse(call, facts, this.#find(this.toolOf(call))?.refusals);
    return true;
  }

  /** What a call ends with that the circuit of its tool does not let pass; undefined when it does. */
  refusalOf(call: Call<I, O>, now: number, cause = call.trouble.lastFailure): FailureFacts | undefined {
    const tool = this.toolOf(call);
    const circuit = this.#find(tool);
    if (tool === undefined || circuit === undefined || !circuit.refuses(call, now)) return undefined;
    return refusal.circuitOpen(nameOf(tool, this.#on.parts.name), circuit.probeAt - now, cause, circuit.failures);
  }

  /** A call is about to be dispatched. @returns whether it tries the open circuit of its tool from here on. */
  takeProbe(call: Call<I, O>): boolean {
    const circuit = this.#find(this.toolOf(call));
    if (circuit === undefined || circuit.openUntil === 0 || circuit.probe === call) return false;
    circuit.probe = call;
    circuit.refusals.kind = undefined;
    return true;
  }

  /** Whoever hears of it may end the call: it must have been dispatched. */
  tellProbe(call: Call<I, O>): void {
    const tool = this.toolOf(call);
    this.#on.records.tell({ type: 'breaker.half_opened', integration: this.#on.parts.name, tool });
  }

  /** A call of a tool passed its limit, and the integration answers others. */
  failed(attempt: Attempt<I, O>, facts: FailureFacts): void {
    const tool = this.toolOf(attempt.call);
    if (tool === undefined) return;
    const { parts, records } = this.#on;
    const circuit = this.#of(tool);
    const openForMs = circuit.failed(attempt.call, records.countedFailure(attempt, facts), parts.clock.now());
    if (openForMs === undefined) return;
    const { message: cause, failures } = circuit.failures.cause ?? {};
    const { kind } = facts;
    records.tell({ type: 'breaker.opened', integration: parts.name, tool, openForMs, kind, cause, failures });
    this.#refuseWaiting(tool, circuit);
  }

  /** A call ended within its limit: with a value, or with an error of its own. */
  answered(call: Call<I, O>): void {
    const tool = this.toolOf(call);
    const circuit = this.#find(tool);
    if (tool === undefined || circuit === undefined) return;
    const wasProbe = circuit.probe === call;
    const isWell = circuit.answered(call, this.#on.parts.clock.now());
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
    const { parts, records } = this.#on;
    const circuit = this.#of(tool);
    const holder = {};
    const wasIsolated = circuit.isIsolated;
    circuit.holders.add(holder);
    if (!wasIsolated) {
      const openForMs = Number.POSITIVE_INFINITY;
      records.tell({ type: 'breaker.opened', integration: parts.name, tool, openForMs, kind: 'isolated' });
      this.#refuseWaiting(tool, circuit);
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

  /** What is behind the integration has started anew, and its tools with it; what is isolated stays so. */
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
    const circuit = new ToolCircuit<I, O>(this.#on.parts.policy.breaker);
    circuit.used = ++this.#uses;
    this.#circuits.set(tool, circuit);
    this.size = this.#circuits.size;
    return circuit;
  }

  /** What an operator isolated stays: it would otherwise be called again without a word. */
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
    this.#on.records.tell({ type: 'breaker.closed', integration: this.#on.parts.name, tool });
  }

  /** Calls of the tool that wait would only be refused later. */
  #refuseWaiting(tool: string, circuit: ToolCircuit<I, O>): void {
    const { parts, waits } = this.#on;
    for (const call of waits.list()) {
      // Who heard of it, or of the last refusal, may have closed the circuit again.
      if (call.waiting === undefined || this.#circuits.get(tool) !== circuit || this.toolOf(call) !== tool) continue;
      this.refuses(call, parts.clock.now());
    }
  }
}

function nameOf(tool: string, integration: string): string {
  return `the tool ${tool} of ${integration}`;
}
