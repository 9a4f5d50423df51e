import { randomUUID } from 'node:crypto';
import type { Operation } from './calls/call.ts';
import { CallPath } from './calls/callPath.ts';
import type { Beginning, CallPathParts } from './calls/callPathParts.ts';
import { type IntegrationEmitted, integrationMachine, type IntegrationRef } from './machines/integration.ts';
import type { PersistedBreaker } from './policy/persistedBreaker.ts';
import type { IntegrationPolicy } from './policy/policy.ts';
import type { Runtime } from './runtime.ts';

/** What one integration adds to the runtime's parts. */
export type IntegrationParts<I, O> = Pick<
  CallPathParts<I, O>,
  'probe' | 'restartInMs' | 'onSilence' | 'describeTimeout'
> & {
  readonly name: string;
  readonly policy: IntegrationPolicy;
  readonly operation: Operation<I, O>;
  /** Whether the thing behind it has yet to start; until then it is shown as crashed. */
  readonly startsDown?: (() => boolean) | undefined;
};

/** Who holds the leases of probes: one name for this process and all its gateways. */
const owner = randomUUID();

/** Puts an integration under the root supervisor: its machine is a permanent child, its breaker is kept in the store. */
export function superviseIntegration<I, O>(runtime: Runtime, parts: IntegrationParts<I, O>): CallPath<I, O> {
  const { name, policy } = parts;
  let row: PersistedBreaker | undefined;
  /** Until when this run opened the circuit, in its own time, which no step of the wall clock moves. */
  let openUntil: number | undefined;

  const path: CallPath<I, O> = new CallPath({
    ...parts,
    clock: runtime.clock,
    random: runtime.random,
    facts: runtime.bus,
    deadlines: runtime.deadlines,
    signals: runtime.signals,
    onBreaker: keep,
    claimProbe: (leaseMs) => {
      const store = runtime.store();
      // A store that cannot answer must not keep the circuit open for ever: then this process decides alone.
      if (store === undefined || row === undefined || store.degraded) return true;
      return store.breakers.claimProbe(name, row.generation, owner, leaseMs, runtime.clock.wallNow());
    },
  });

  function keep(event: IntegrationEmitted): void {
    if (event.type === 'breaker.half_opened' || (event.type === 'breaker.opened' && event.kind === 'isolated')) return;
    const wallNow = runtime.clock.wallNow();
    const generation = (row?.generation ?? 0) + 1;
    openUntil = event.type === 'breaker.closed' ? undefined : runtime.clock.now() + event.openForMs;
    row =
      event.type === 'breaker.closed'
        ? { state: 'closed', openedAt: row?.openedAt ?? 0, openUntil: 0, lastOpenMs: 0, openings: 0, generation }
        : {
            state: 'open',
            openedAt: wallNow,
            openUntil: wallNow + event.openForMs,
            lastOpenMs: event.openForMs,
            openings: path.link.openings,
            generation,
          };
    runtime.store()?.breakers.save(name, row);
  }

  /** Also for a later incarnation of the machine, which knows nothing of what the last one had opened. */
  function restored(): Beginning['open'] {
    row ??= runtime.store()?.breakers.load(name);
    if (row?.state !== 'open') return undefined;
    if (openUntil !== undefined) return { openUntil, openings: row.openings };
    // The wall clock may have stepped since: what is left is never more than the circuit was to stay open.
    const leftMs = Math.min(Math.max(0, row.openUntil - runtime.clock.wallNow()), row.lastOpenMs);
    return { openUntil: runtime.clock.now() + leftMs, openings: row.openings };
  }

  runtime.supervise({
    id: `integration:${name}`,
    logic: integrationMachine,
    input: { name, breaker: policy.breaker },
    onStart: (ref) => path.attach(ref as IntegrationRef, { open: restored(), down: parts.startsDown?.() === true }),
  });
  return path;
}
