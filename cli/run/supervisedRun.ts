import { aboutCommand, agentCommand } from '../../src/protocol/face.ts';
import {
  type AgentLeft,
  AgentRuns,
  type RunRequest,
  type RunResult,
  nameOfCommand,
  runProcess,
  traceVariables,
} from '../../src/integrations/subprocess/face.ts';
import { type AttemptContext, CallableIntegration } from '../../src/calls/face.ts';
import type { BreakerCause } from '../../src/policy/records/face.ts';
import { Registry, checkGatewayOptions, lightClock, superviseIntegration } from '../../src/runtime/face.ts';
import { type ProcessExit, type SubprocessInput, timeoutText } from '../../src/machines/face.ts';
import type { Clock } from '../../src/policy/face.ts';
import type { Fact, FactOf, Told } from '../../src/policy/facts/face.ts';
import { AttemptError, type Outcome } from '../../src/policy/failures/face.ts';
import type { Logger } from '../../src/policy/text/face.ts';
import { databasePath } from '../databasePath.ts';
import type { Environment } from '../../src/store/face.ts';
import type { Telemetry } from '../otel.ts';
import { asRun, isBrokenPipe } from './exitCode.ts';
import type { Sink } from './output.ts';
import type { RunPlan } from './request.ts';
import { circuitTrace, HeldLog, RunStore } from './runStore.ts';

/** Time between the signal that asks the command to end and SIGKILL, in ms. */
const graceMs = 5000;
/** Time in ms that the store may be waited for while another process writes. */
const lockWaitMs = 1000;

/** Surroundings of a run. */
interface RunSurroundings {
  readonly env: Environment;
  /** Has the run told of from here on. Rejects when that cannot be. */
  readonly telemetry: (registry: Registry) => Promise<Telemetry>;
  /** Ends the run; a reason with a `signal` has that signal passed on. */
  readonly signal: AbortSignal;
  /** Tells whether Ctrl-C has come, for a command that handles it. @defaultValue never */
  readonly isInterrupted?: (() => boolean) | undefined;
  /** Returns the sink for the output of an attempt. */
  readonly outputOf: (attempt: number) => Sink;
  readonly logger: Logger;
  readonly onRetry: (fact: Told<FactOf<'call.retried'>>) => void;
  readonly onSpinning: (fact: Told<FactOf<'session.spinning'>>) => void;
  readonly onBudget: (fact: Told<FactOf<'budget.warning'>>) => void;
  readonly onBreaker: (fact: Told<FactOf<'breaker.opened'> | FactOf<'breaker.closed'>>) => void;
}

/** End of a run. */
export interface RunEnd {
  readonly outcome: Outcome<RunResult>;
  /** Exit of the process of the last attempt; undefined when there was none. */
  readonly exit: ProcessExit | undefined;
  readonly attempts: number;
  /** Why there was no further attempt though one was left, where what an agent may have done stood in the way. */
  readonly notRepeated: string | undefined;
  /** Possible effects of the attempts of an agent, and its session; undefined for another command. */
  readonly left: AgentLeft | undefined;
  readonly elapsedMs: number;
  /** Why the command is not run for a time; undefined while it is, and where nobody knows. */
  readonly opened: BreakerCause | undefined;
}

/**
 * Runs a command as the one call of the one integration of a runtime, whose breaker is shared with other runs of the same name.
 * Resolves when nothing of it is left.
 * @throws what `given.telemetry` rejects with.
 */
export async function superviseRun(plan: RunPlan, request: RunRequest, given: RunSurroundings): Promise<RunEnd> {
  const { env, signal, logger } = given;
  const path = databasePath(plan.db, env);
  const isNamed = plan.db !== undefined || Boolean(env['UNWEDGE_DB']);
  // A database that was named may be that of a gateway which keeps its records for longer.
  const { retention = isNamed ? false : undefined } = plan;
  const checked = checkGatewayOptions({ store: { path, required: false }, logger, clock: lightClock, retention });
  const log = new HeldLog(logger);
  const registry = new Registry(checked, {
    lockWaitMs,
    are: 'run',
    retention: checked.retention ?? false,
    logger: log.logger,
    records: (fact) => tellsOfTrouble(fact) && !(fact.type === 'call.failed' && isBrokenPipe(signal)),
  });
  const { runtime } = registry;
  const { clock, bus } = runtime;
  runtime.secrets.learn(env);
  const telemetry = await given.telemetry(registry);
  const trace = circuitTrace(path, plan.name);
  const runStore = new RunStore(registry, path, plan, log);
  const { agentProfiles } = plan;
  const agent = agentCommand(plan.command, plan.args, plan.agent, agentProfiles);
  const calledAs = nameOfCommand(plan.command, agent);
  let notRepeated: string | undefined;
  let exit: ProcessExit | undefined;
  let attempts = 0;
  let leftBy = (): AgentLeft | undefined => agent && { agent: agent.agent, effects: 'none' };

  const call = superviseIntegration<RunRequest, RunResult>(runtime, {
    name: plan.name,
    about: aboutCommand(agent, plan.args),
    policy: { ...plan.policy, abortGraceMs: graceMs + 2000 },
    streak: 'shared',
    describeTimeout: timeoutText(calledAs),
    amendTimeout: (facts, context) => agents.amendTimeout(facts, context),
    async operation(input, context) {
      const prepared = await agents.prepare(input, context);
      exit = undefined;
      attempts = context.attempt;
      leftBy = () => agents.leftBy(context.call);
      try {
        const process = inputOf(plan, prepared.input, given.outputOf(context.attempt), context, clock);
        exit = await runProcess(
          runtime,
          {
            id: `process:${plan.name}:${context.attempt}`,
            input: { ...process, calledAs, register: runStore.register },
            graceMs,
            tellsLife: prepared.tellsLife,
            endSignal: prepared.endSignal,
          },
          { signal: AbortSignal.any([context.signal, prepared.spun]), touch: context.touch },
        );
        return prepared.conclude(exit);
      } catch (error) {
        // Before the breaker hears of it: the store counts for all runs.
        await runStore.open();
        throw error instanceof AttemptError
          ? new AttemptError(asRun(error.facts, exit, agent !== undefined, given.isInterrupted?.()))
          : error;
      } finally {
        await prepared.end();
      }
    },
  });
  const budget = runtime.budgets.accounts.get(`run:${plan.name}`);
  const agents = new AgentRuns(
    clock,
    { command: plan.command, args: plan.args, agent: plan.agent, agentProfiles },
    {
      ...{ retry: plan.policy.retry, always: plan.retriesAlways, onRefused: (why) => (notRepeated = why) },
      hears: (plan.spinning ?? budget) && { limits: plan.spinning, budget, facts: bus, integration: plan.name },
    },
  );
  // A second signal ends this process at once; the lease of a probe would be held to its end.
  const giveBack = (): void => {
    call.stop();
    runStore.cut();
  };
  process.once('exit', giveBack);
  bus.on('call.retried', given.onRetry);
  bus.on('session.spinning', given.onSpinning);
  bus.on('budget.warning', given.onBudget);
  bus.on('breaker.opened', given.onBreaker);
  bus.on('breaker.closed', given.onBreaker);

  const startedAt = clock.now();
  await runStore.start(trace);
  const outcome = await telemetry.within(() => new CallableIntegration(call).call(request, { signal }));
  const elapsedMs = clock.now() - startedAt;
  const opened = call.openedBy;
  await runStore.end(!outcome.ok && !isBrokenPipe(signal), isNamed);
  trace.update(runtime.store(), outcome.ok);
  await registry.stop();
  process.off('exit', giveBack);
  await telemetry.end();
  return { outcome, exit, attempts, notRepeated, left: leftBy(), elapsedMs, opened };
}

function inputOf(
  plan: RunPlan,
  prepared: Pick<SubprocessInput, 'args' | 'stdin' | 'env' | 'onOutput'>,
  sink: Sink,
  context: AttemptContext,
  clock: Clock,
): SubprocessInput {
  const { limits } = plan.policy;
  return {
    ...prepared,
    env: { ...traceVariables(context.traceContext), ...prepared.env },
    command: plan.command,
    inherit: [
      ...(plan.inheritsStdin ? (['stdin'] as const) : []),
      ...(plan.inheritsStdout ? (['stdout'] as const) : []),
    ],
    sharesGroup: plan.onTerminal,
    graceMs,
    clock,
    onOutput(chunk, stream) {
      prepared.onOutput?.(chunk, stream);
      const busy = sink.write(chunk, stream);
      if (busy !== undefined && Number.isFinite(limits.idleMs)) touchUntil(busy, context, clock, limits.idleMs / 2);
      return busy;
    },
  };
}

/** While our own reader is slow, the command cannot write: that is no silence of its own. */
function touchUntil(busy: Promise<void>, { touch }: AttemptContext, clock: Clock, everyMs: number): void {
  const again = (): void => {
    touch();
    timer = clock.setTimeout(again, everyMs, { ref: false });
  };
  let timer = clock.setTimeout(again, everyMs, { ref: false });
  void busy.then(() => {
    clock.clearTimeout(timer);
    touch();
  });
}

const lifecycle: ReadonlySet<string> = new Set(['child.started', 'child.stopped', 'process.started']);

/** A run lives in a runtime of its own, whose coming and going says nothing that the end of a failed run does not. */
function tellsOfTrouble(fact: Told<Fact>): boolean {
  if (fact.type === 'process.exited') return fact.reason !== 'exit' || fact.exitCode !== 0;
  return !lifecycle.has(fact.type);
}
