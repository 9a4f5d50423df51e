import { lateModule } from '../../actors/process/lateModule.ts';
import type { CallPath } from '../../calls/callPath.ts';
import type { AttemptContext } from '../../calls/operation.ts';
import type { SubprocessInput } from '../../machines/subprocess.ts';
import { timeoutText } from '../../machines/subprocessExit.ts';
import type { Clock } from '../../policy/clock.ts';
import { AttemptError } from '../../policy/failures/failure.ts';
import { limitsOf, ownLimits } from '../../policy/spinning/spinningRule.ts';
import { say } from '../../policy/text/logger.ts';
import { aboutCommand, agentCommand, presetOfAgent, printsAtEnd } from '../../protocol/agentCommand.ts';
import { createLineSplitter } from '../../protocol/lines.ts';
import type { PathRole, Runtime } from '../../runtime/runtime.ts';
import { superviseIntegration } from '../../runtime/superviseIntegration.ts';
import { DecodedStream } from '../../streams/decodedStream.ts';
import type { AgentRuns, RunResult } from './agentRuns.ts';
import { nameOfCommand, notStarted, runProcess, traceVariables } from './subprocessRun.ts';
import { OutputBytes } from './outputBytes.ts';
import {
  checkRunRequest,
  checkSubprocessOptions,
  type RunRequest,
  type SubprocessOptions,
} from './subprocessOptions.ts';

const agentRunsModule = lateModule(() => import('./agentRuns.ts'));

/**
 * An integration whose every attempt is a process: a temporary child of the root supervisor. The call path holds the limits and
 * settles the caller at the deadline; ending the process and everything below it goes on behind.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseSubprocess(
  runtime: Runtime,
  name: string,
  given: SubprocessOptions,
  role: PathRole = {},
): CallPath<RunRequest, RunResult> {
  const options = checkSubprocessOptions(name, given, runtime.agentProfiles);
  const {
    command,
    args,
    cwd,
    envMode = runtime.environment,
    envAllow,
    maxOutputBytes,
    maxLineBytes,
    graceMs,
  } = options;
  const agent = agentCommand(command, args ?? [], options.agent, runtime.agentProfiles);
  const calledAs = nameOfCommand(command, agent);
  const base = runtime.policies.policyOf(
    name,
    options.policy,
    agent === undefined ? 'subprocess' : presetOfAgent(agent),
  );
  const printsOnlyAtEnd = options.printsOnlyAtEnd ?? (agent !== undefined && printsAtEnd(agent));
  // A user who configures the limit on silence for this very command means it.
  const idleMs = runtime.policies.limitOf(name, 'idleMs') ?? Number.POSITIVE_INFINITY;
  const limits = printsOnlyAtEnd ? { ...base.limits, idleMs } : base.limits;
  // Killing takes up to its grace; only then is a process that goes on one that would not end.
  const policy = { ...base, limits, abortGraceMs: Math.max(base.abortGraceMs, graceMs + 2000) };
  let lastRun = 0;
  let said = false;
  let agents: AgentRuns | undefined;

  /** Loaded at the first run: many gateways run no command. */
  async function load(): Promise<AgentRuns> {
    const limits = limitsOf(runtime.policies.spinningOf(name, options.spinning), ownLimits);
    const budget = runtime.budgets.accounts.get(`integration:${name}`);
    const { AgentRuns: Runs } = await agentRunsModule().catch((error: unknown) => {
      throw notStarted(command, error);
    });
    agents ??= new Runs(
      runtime.clock,
      { ...options, envMode, agentProfiles: runtime.agentProfiles },
      {
        retry: policy.retry,
        onRefused,
        hears: (limits ?? budget) && { limits, budget, facts: runtime.bus, integration: name },
      },
    );
    return agents;
  }

  /** Said once: it is so for every call of it that fails. */
  function onRefused(why: string): void {
    if (!said)
      say(runtime.logger, 'warn', `${name} is not tried again: ${why}; a call of effect idempotent begins anew`);
    said = true;
  }

  /** @param output - gets what the process prints. */
  async function run(
    request: RunRequest,
    context: AttemptContext,
    signal: AbortSignal,
    output?: OutputBytes,
  ): Promise<RunResult> {
    checkRunRequest(name, request);
    const prepared = await (await load()).prepare(request, context);
    const { tellsLife, endSignal } = prepared;
    try {
      const input: SubprocessInput = {
        ...prepared.input,
        env: { ...traceVariables(context.traceContext), ...prepared.input.env },
        onOutput(chunk, from) {
          prepared.input.onOutput?.(chunk, from);
          return from === 'stdout' ? output?.push(chunk) : undefined;
        },
        command,
        cwd: request.cwd ?? cwd,
        envMode,
        envAllow,
        graceMs,
        maxOutputBytes,
        calledAs,
        register: runtime.register,
        clock: runtime.clock,
      };
      const id = `process:${name}:${++lastRun}`;
      const exit = await runProcess(
        runtime,
        { id, input, graceMs, tellsLife, endSignal },
        { signal: AbortSignal.any([signal, prepared.spun]), touch: context.touch },
      );
      return prepared.conclude(exit);
    } finally {
      await prepared.end();
    }
  }

  return superviseIntegration(runtime, {
    name,
    ...role,
    about: aboutCommand(agent, args ?? []),
    policy,
    describeTimeout: timeoutText(calledAs),
    amendTimeout: (facts, context) => agents?.amendTimeout(facts, context) ?? facts,
    operation: (request: RunRequest, context) => run(request, context, context.signal),
    streamed: (request: RunRequest, context) => {
      const left = new AbortController();
      const { signal } = context;
      // Whichever of the two the run hears of first: why the attempt was given up is why it ends.
      const output = new OutputBytes((reason) => left.abort(signal.aborted ? signal.reason : reason));
      output.follow(run(request, context, AbortSignal.any([signal, left.signal]), output));
      return outputLines(output, { maxLineBytes, clock: runtime.clock });
    },
  });
}

/** The lines of what a run prints, without their ends; a last one that has none too. */
function outputLines(
  output: OutputBytes,
  { maxLineBytes, clock }: { readonly maxLineBytes: number; readonly clock: Clock },
): AsyncIterable<string> {
  const onTooLong = (): never => {
    const message = `A line of the output is longer than ${maxLineBytes} bytes`;
    throw new AttemptError({ kind: 'permanent', reason: 'message_too_large', message, outcome: 'unknown' });
  };
  return new DecodedStream<string>(
    output,
    (give) => {
      const lines = createLineSplitter({ maxBytes: maxLineBytes, onLine: give, onTooLong });
      return {
        push: ({ buffer, byteOffset, byteLength }) => lines.push(Buffer.from(buffer, byteOffset, byteLength)),
        end: () => lines.end(),
        // A run that fails has said its last line all the same.
        broke: () => lines.end(),
      };
    },
    // The process tells its signs of life itself.
    { clock, heard: () => undefined, written: (line) => `${line}\n` },
  );
}
