import type { Operation } from '../calls/operation.ts';
import { CallPath } from '../calls/callPath.ts';
import type { CallPathOptions } from '../calls/callPathOptions.ts';
import { BudgetAccount } from '../calls/rates/budgetAccount.ts';
import { IntegrationRates, type RateFunctions } from '../calls/rates/integrationRates.ts';
import { keepBreaker, type StreakKeeper } from './keptBreaker.ts';
import { integrationMachine, type IntegrationRef } from '../machines/integration.ts';
import type { IntegrationTraits } from '../policy/records/flight.ts';
import type { IntegrationAbout, IntegrationType } from '../policy/integrationAbout.ts';
import { refuseUncounted } from '../policy/budget.ts';
import type { IntegrationPolicy } from '../policy/policy.ts';
import { isRated } from '../policy/ratePolicy.ts';
import type { PathRole, Runtime } from './runtime.ts';

/** Parts of a runtime that an integration needs. */
export type IntegrationRuntime = Pick<
  Runtime,
  | 'clock'
  | 'random'
  | 'bus'
  | 'deadlines'
  | 'signals'
  | 'tracing'
  | 'rates'
  | 'budgets'
  | 'sharedBreakers'
  | 'statistics'
  | 'flights'
  | 'logger'
  | 'redactAnswer'
  | 'store'
  | 'supervise'
  | 'enter'
> & { readonly root?: Pick<Runtime['root'], 'state'> };

/** Parts that one integration adds to those of the runtime. */
type IntegrationParts<I, O> = Pick<
  CallPathOptions<I, O>,
  | 'streamed'
  | 'toolOf'
  | 'failed'
  | 'goesOn'
  | 'probe'
  | 'restartInMs'
  | 'isQuarantined'
  | 'incarnation'
  | 'isCounted'
  | 'onSilence'
  | 'whenAlive'
  | 'describeTimeout'
  | 'amendTimeout'
  | 'retryBudget'
> &
  PathRole & {
    readonly name: string;
    readonly about: IntegrationAbout<I>;
    readonly policy: IntegrationPolicy;
    readonly operation: Operation<I, O>;
    /** Cost of its calls, and whose limits hold for them, where its policy has rate limits. */
    readonly rate?: RateFunctions<I> | undefined;
    /** Place where its failures in a row are counted. @defaultValue 'own' */
    readonly streak?: StreakKeeper | undefined;
    /**
     * State that it shares with integrations of its name in other processes on the store: `nothing`, where its server or command is its own; the `probe` of
     * an open circuit; or the `circuit`, where all call one server: then what one of them finds out holds for all within a second. `circuit_of_nodes`: the
     * circuit where the store is that of several machines, as they are made of the same code; else the probe.
     * @defaultValue 'probe'
     */
    readonly shares?: 'nothing' | 'probe' | 'circuit' | 'circuit_of_nodes' | undefined;
    /** It ends for good: its calls have ended. */
    readonly onStop?: (() => void) | undefined;
    /** Tells whether the thing behind it has yet to start; until then it is shown as crashed. */
    readonly startsDown?: (() => boolean) | undefined;
  };

function traitsOf({
  onSilence,
  whenAlive = 'end',
  probe,
  startsDown,
}: Pick<IntegrationParts<never, never>, 'onSilence' | 'whenAlive' | 'probe' | 'startsDown'>): IntegrationTraits {
  return {
    ...(onSilence !== undefined && { asks: whenAlive }),
    ...(probe !== undefined && { probes: true }),
    ...(startsDown !== undefined && { startsDown: true }),
  };
}

/** Kinds of integrations whose calls are requests alone: none tells of rounds, or of tool calls of its own. */
const requesting: ReadonlySet<IntegrationType> = new Set(['function', 'mcp', 'http', 'hook']);

/** Enters an integration in its registry: its machine is a permanent child of the root supervisor, its breaker is kept in the store. */
export function superviseIntegration<I, O>(runtime: IntegrationRuntime, parts: IntegrationParts<I, O>): CallPath<I, O> {
  const { name, policy, streak = 'own', shares = 'probe' } = parts;
  const machineId = `integration:${name}`;
  if (policy.budget !== undefined && requesting.has(parts.about.type)) refuseUncounted(name, policy.budget);
  const kept = keepBreaker(runtime, name, streak);
  const { are = 'integration' } = runtime.budgets;
  const path: CallPath<I, O> = new CallPath({
    ...parts,
    // Its machine is a child of the supervisor as well as the server behind it.
    isQuarantined: () => parts.isQuarantined?.() === true || runtime.root?.state(machineId) === 'quarantined',
    clock: runtime.clock,
    random: runtime.random,
    facts: runtime.bus,
    deadlines: runtime.deadlines,
    signals: runtime.signals,
    tracing: runtime.tracing,
    streak: kept.streak,
    statistics: runtime.statistics.of(name),
    recorder: runtime.flights.of(name, policy, traitsOf(parts)),
    rate: isRated(policy.rate) ? new IntegrationRates(name, policy.rate, parts.rate ?? {}, runtime) : undefined,
    budget: policy.budget && new BudgetAccount(`${are}:${name}`, policy.budget, runtime.budgets, ['day']),
    onBreaker: (event, cause) => kept.changed(event, path.link.openings, cause),
    onPause: (pauseMs) => kept.paused(pauseMs),
    claimProbe: shares === 'nothing' ? undefined : (leaseMs) => kept.claimProbe(leaseMs),
    releaseProbe: () => kept.releaseProbe(),
    onStop() {
      runtime.sharedBreakers.unfollow(name);
      runtime.statistics.left(name);
      runtime.flights.left(name);
      kept.stop();
      parts.onStop?.();
    },
  });
  runtime.flights.follow(path);

  runtime.supervise({
    id: machineId,
    logic: integrationMachine,
    input: { name, breaker: policy.breaker },
    onStart(ref) {
      const known = { open: kept.restored(), pausedUntil: kept.pausedUntil() };
      path.attach(ref as IntegrationRef, { ...known, down: parts.startsDown?.() === true });
      const isOfAll = shares === 'circuit' || (shares === 'circuit_of_nodes' && runtime.store()?.kind === 'postgres');
      if (isOfAll) runtime.sharedBreakers.follow(name, (now) => path.adopt(kept.heard(now)));
    },
  });
  runtime.enter(path, { serves: parts.serves, outlasts: parts.outlasts, onRestart: parts.onRestart });
  return path;
}
