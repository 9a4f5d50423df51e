import type { IntegrationRef } from '../machines/integration.ts';
import type { IntegrationEvent } from '../machines/integrationEvents.ts';
import type { FailureFacts, Outcome } from '../policy/failure.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import type { Call } from './call.ts';
import type { Beginning, CallPathParts, CallStats } from './callPathParts.ts';
import type { CallSettings } from './callSettings.ts';
import type { Drainable, DrainOrder } from './draining.ts';
import type { MachineLink } from './machineLink.ts';
import * as refusal from './refusal.ts';
import { type PathKeeper, Stations } from './stations.ts';
import type { ToolCircuitState } from './toolCircuits.ts';

/**
 * The way of every call to an integration: through the gate, attempts and waits in turn, and one ending. A call is a row here, not
 * an actor; the machine is told what could change its state and decides it.
 *
 * The caller is settled at the deadline; work that goes on behind is aborted, fenced and, if need be, written off. Anybody who
 * hears of something on the way may call back into the path, end calls or stop it: each step looks again at what it finds.
 */
export class CallPath<I, O> implements PathKeeper<I, O>, Drainable {
  readonly name: string;
  readonly policy: IntegrationPolicy;
  readonly link: MachineLink;
  readonly #on: Stations<I, O>;

  constructor(parts: CallPathParts<I, O>) {
    const stations = new Stations(parts, this);
    this.#on = stations;
    this.name = parts.name;
    this.policy = parts.policy;
    this.link = stations.link;
  }

  get stats(): CallStats {
    const { attempts, waits, records, places, budget } = this.#on;
    return {
      attempts: attempts.size,
      waiting: waits.size,
      succeeded: records.succeeded,
      failed: records.failed,
      refused: records.refused,
      late: records.late,
      abandoned: places.abandoned,
      retryTokens: budget.tokens,
    };
  }

  /** Makes a call. The row is given back so that its owner can end it; `settled` gets its one outcome. */
  start(input: I, settings: CallSettings<I, O>, settled: (outcome: Outcome<O>) => void): Call<I, O> {
    const { parts, stopped, draining, endings, gate, scopes } = this.#on;
    const now = parts.clock.now();
    const call = this.#on.makeCall(input, settings, now, settled);
    const { signal } = settings;
    if (stopped) endings.refuse(call, refusal.stopped(this.name));
    else if (signal?.aborted === true) endings.fail(call, refusal.cancelled(signal.reason, false));
    else if (draining.refuses(settings)) endings.refuse(call, refusal.stopping(this.name));
    else {
      if (signal !== undefined) parts.signals.watch(signal, call);
      if (settings.scope === undefined) gate.proceed(call, now);
      else {
        scopes.enter(call);
        // Who heard of the end of the call that it replaced may have taken any time.
        gate.proceed(call);
      }
    }
    return call;
  }

  /** Ends a call that has not ended yet, for the reason given. */
  end(call: Call<I, O>, facts: FailureFacts): void {
    if (call.settled || call.ending === 'answered') return;
    const { attempts, endings } = this.#on;
    if (call.trouble.fallback !== undefined) {
      endings.cutShort(call, facts);
      return;
    }
    endings.fail(call, attempts.end(call, facts));
  }

  /** Ends the call that holds a scope. False when none does. */
  endScope(scope: string, reason: unknown): boolean {
    const holder = this.#on.scopes.holder(scope);
    if (holder !== undefined) this.end(holder, refusal.cancelled(reason, holder.attempt !== undefined));
    return holder !== undefined;
  }

  /**
   * The thing behind the integration is gone: its attempts end, and what may be tried again waits for the restart.
   * @param quietly - it ended as it was to: nothing is told, and its coming back neither.
   */
  crashed(facts: FailureFacts, quietly = false): void {
    const { stopped, outage, doubt } = this.#on;
    if (stopped) return;
    outage.needsRestart();
    outage.begin(facts, quietly);
    doubt.forget();
  }

  /** The thing behind the integration is there again, and nothing of what was going on before. */
  restarted(): void {
    const { stopped, places, outage, doubt, scopes, tools } = this.#on;
    if (stopped) return;
    places.forgive();
    tools.restarted();
    outage.end();
    doubt.forget();
    scopes.forgive();
  }

  /** Closes the circuit, forgets what was counted, and takes a crashed function back into service. */
  reset(): void {
    const { stopped, places, outage, gate, doubt, scopes, tools } = this.#on;
    if (stopped) return;
    places.forgive();
    this.link.reset();
    tools.resetAll();
    outage.withinBound();
    gate.resume('pause');
    doubt.forget();
    scopes.forgive();
  }

  /** The circuit of a tool, as of now. */
  toolCircuit(tool: string): ToolCircuitState {
    return this.#on.tools.stateOf(tool);
  }

  /** Forces the circuit of a tool open until the returned function is called (once). */
  isolateTool(tool: string): () => void {
    return this.#on.stopped ? () => undefined : this.#on.tools.isolate(tool);
  }

  /** Closes the circuit of a tool. */
  resetTool(tool: string): void {
    if (!this.#on.stopped) this.#on.tools.reset(tool);
  }

  /**
   * What an operator does about an integration without a process of its own to restart: calls in flight end with reason `restarted`,
   * their work is aborted, and the rest is as after {@link reset}. Calls that wait go on.
   */
  restart(): void {
    if (this.#on.stopped) return;
    const { calls } = this.#on.attempts;
    // First: what is ended after it counts for nothing, and a probe takes nobody with it.
    this.reset();
    for (const call of calls) this.end(call, refusal.restarted(this.name));
  }

  /** Takes the machine of a new incarnation. */
  attach(ref: IntegrationRef, { open, down = false }: Beginning = {}): void {
    const { stopped, outage, attempts } = this.#on;
    if (stopped) return;
    outage.needsRestart();
    // Before its attempts are ended: that our own machine is gone says nothing about the other side.
    this.link.detach();
    for (const call of attempts.calls) this.end(call, refusal.machineLost(this.name));
    const first: IntegrationEvent[] = [];
    if (open !== undefined) {
      const { cause, ...restored } = open;
      this.#on.failures.cause ??= cause;
      first.push({ type: 'breaker.restore', ...restored });
    }
    if (down) outage.startsDown();
    // A first start is no restart; only a circuit that an earlier run left open is closed by it.
    const awaitsStart = down && open === undefined && !this.link.started;
    if (down && !awaitsStart) first.push({ type: 'integration.lost' });
    this.link.attach(ref, first, awaitsStart);
  }

  /** Whether a call has not ended. */
  get busy(): boolean {
    return this.#on.draining.busy;
  }

  /** Refuses new calls from now on; those that are under way may end by themselves. */
  drain(order: DrainOrder): void {
    if (!this.#on.stopped) this.#on.draining.begin(order);
  }

  /** Ends every call and every wait. Nothing is left in the queue of deadlines afterwards. */
  stop(): void {
    const { parts, attempts, overstays, waits, endings } = this.#on;
    this.#on.stopped = true;
    overstays.stop();
    const facts = refusal.stopped(this.name);
    for (const call of [...attempts.calls, ...waits.list(), ...endings.fallingBack]) this.end(call, facts);
    this.link.retire();
    parts.onStop?.();
  }

  now(): number {
    return this.#on.parts.clock.now();
  }

  callExpired(call: Call<I, O>, now: number): void {
    if (call.settled) return;
    const { attempts, endings, gate } = this.#on;
    const { fallback, lastFailure } = call.trouble;
    if (fallback !== undefined && lastFailure !== undefined) {
      endings.cutShort(call, lastFailure, refusal.timedOut('overall_timeout', call.settings.overallMs));
    } else if (call.attempt !== undefined) attempts.expired(call.attempt, now);
    else gate.waitExpired(call, now);
  }

  callAborted(call: Call<I, O>, reason: unknown): void {
    this.end(call, refusal.cancelled(reason, call.attempt !== undefined));
  }
}
