import type { AnyActorRef } from 'xstate';
import type { AttemptContext } from '../../calls/operation.ts';
import type { ProcessExit, SubprocessEmitted, SubprocessInput } from '../../machines/subprocess.ts';
import type { EndSignal } from '../../machines/subprocessEvents.ts';
import { readString } from '../../policy/failures/errorChain.ts';
import { AttemptError } from '../../policy/failures/failure.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { loadExeca } from '../../actors/process/execaPackage.ts';
import { isShortage, spawnFailure } from '../../actors/process/spawnFailure.ts';
import { lateModule } from '../../actors/process/lateModule.ts';
import { basename } from 'node:path';
import { usualName } from '../../machines/subprocessInput.ts';
import type { AgentCommand } from '../../protocol/agentCommand.ts';
import type { TraceContext } from '../../calls/tracing.ts';

const processModule = lateModule(async () => {
  const [module] = await Promise.all([import('../../actors/process/process.ts'), loadExeca()]);
  return module;
});

/** An attempt of a subprocess integration. */
interface ProcessRun {
  /** Names the child of the root supervisor; unique. */
  readonly id: string;
  readonly input: SubprocessInput;
  /** Time between SIGTERM and SIGKILL, in ms. */
  readonly graceMs: number;
  /** True where its output is no sign of life by itself: what reads it tells. @defaultValue false */
  readonly tellsLife?: boolean | undefined;
  /** Signal that asks it to end, where nobody chose one. @defaultValue 'SIGTERM' */
  readonly endSignal?: EndSignal | undefined;
}

/**
 * Runs a command as a temporary child of the root supervisor until it has ended, and everything below it. Aborting the context's
 * signal ends it; output is a sign of life. Rejects with an {@link AttemptError} when there was no run to end.
 */
export async function runProcess(
  runtime: Pick<Runtime, 'root' | 'bus' | 'secrets'>,
  run: ProcessRun,
  context: Pick<AttemptContext, 'signal' | 'touch'>,
): Promise<ProcessExit> {
  const { id, input, graceMs, tellsLife = false } = run;
  // The environment may have changed since the gateway was made.
  for (const variables of [process.env, input.env]) runtime.secrets.learn(variables);
  // Loaded now: the package that starts processes takes longer to load than all of ours; a host that starts none is spared it.
  const { processLogic } = await processModule().catch((error: unknown) => {
    throw notStarted(input.command, error);
  });
  return new Promise((resolve, reject) => {
    const { signal } = context;
    if (signal.aborted) {
      reject(endedEarly(input.command));
      return;
    }
    let started: AnyActorRef | undefined;
    const kill = (): void => {
      started?.send({
        type: 'process.kill',
        reason: killReason(signal.reason),
        signal: endSignal(signal.reason) ?? run.endSignal,
      });
    };
    // Before the start: a command that cannot be spawned may end in the middle of it.
    signal.addEventListener('abort', kill, { once: true });
    try {
      runtime.root.startChild({
        id,
        logic: processLogic,
        input,
        restart: 'temporary',
        shutdown: graceMs + 2000,
        onStart: (ref) => {
          started = ref;
          ref.on('*', (event: unknown) => tell(event as SubprocessEmitted));
        },
        onExit: ({ error }) => {
          signal.removeEventListener('abort', kill);
          const exit = (started?.getSnapshot() as { output?: ProcessExit } | undefined)?.output;
          if (exit === undefined) reject(error ?? endedEarly(input.command));
          else resolve(exit);
        },
      });
    } catch (error) {
      signal.removeEventListener('abort', kill);
      reject(notStarted(input.command, error));
    }

    function tell(event: SubprocessEmitted): void {
      if (event.type !== 'process.output') runtime.bus.tell({ ...event, process: id });
      else if (!tellsLife) context.touch();
    }
  });
}

/** It could not be loaded, the supervisor took no child, or the child threw before there was a process. */
export function notStarted(command: string, cause: unknown): AttemptError {
  if (isShortage(cause)) return new AttemptError(spawnFailure(cause, { command }));
  const why = cause instanceof Error ? `: ${cause.message.split('\n', 1)[0]}` : '';
  return new AttemptError({
    kind: 'spawn',
    message: `${command} was not started${why}`,
    outcome: 'not_started',
    cause,
  });
}

/** The supervisor stopped the run before it had an end of its own. */
function endedEarly(command: string): AttemptError {
  return new AttemptError({
    kind: 'cancelled',
    reason: 'stopped',
    message: `${command} was stopped`,
    outcome: 'cancelled',
  });
}

/** Passes on the signal that ended the caller of the run. */
function endSignal(reason: unknown): EndSignal | undefined {
  return endSignals.find((signal) => signal === readString(reason, 'signal'));
}

const endSignals: readonly EndSignal[] = ['SIGTERM', 'SIGINT', 'SIGHUP'];

function killReason(reason: unknown): 'cancelled' | 'overall-timeout' | 'no-output-timeout' {
  // By the limit, not by the kind: what waited for a rate limit when it passed is one.
  const limit = reason instanceof AttemptError ? reason.facts.reason : undefined;
  if (limit === 'idle_timeout') return 'no-output-timeout';
  return limit === 'attempt_timeout' || limit === 'overall_timeout' ? 'overall-timeout' : 'cancelled';
}

/** Returns what messages for people call a command: its file without its folder. That of an agent is its CLI. */
export function nameOfCommand(command: string, agent: AgentCommand | undefined): string {
  return agent === undefined ? basename(command) || command : usualName;
}

/** Trace context as variables of a child: `traceparent` is `TRACEPARENT`, as tools that continue a trace read it. */
export function traceVariables(context: TraceContext | undefined): Readonly<Record<string, string>> {
  const variables = Object.entries(context ?? {}).map(([name, value]) => [
    name.toUpperCase().replaceAll(/[^A-Z\d]/g, '_'),
    value,
  ]);
  return Object.fromEntries(variables) as Record<string, string>;
}
