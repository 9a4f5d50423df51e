import type { AnyActorRef } from 'xstate';
import { processLogic } from './actors/process.ts';
import { exitFacts } from './actors/processExit.ts';
import type { CallPath } from './calls/callPath.ts';
import type { AttemptContext } from './calls/call.ts';
import type { ProcessExit, SubprocessEmitted, SubprocessInput } from './machines/subprocess.ts';
import { AttemptError, type FailureReason } from './policy/failure.ts';
import { checkKeys, checkName, checkNumber } from './policy/options.ts';
import { type PolicyInput, resolvePolicy } from './policy/presets.ts';
import type { Runtime } from './runtime.ts';
import { superviseIntegration } from './superviseIntegration.ts';

export interface SubprocessOptions {
  /** Path, or name to look up on the PATH. Never goes through a shell. */
  readonly command: string;
  /** Come before those of each run. @defaultValue [] */
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Whether `env` adds to the environment of the runtime or is all there is. @defaultValue 'extend' */
  readonly envMode?: 'extend' | 'only' | undefined;
  /** Time between SIGTERM and SIGKILL, in ms, at least 0. @defaultValue 5000 */
  readonly graceMs?: number | undefined;
  /** Limit on the bytes of both streams together. @defaultValue no limit */
  readonly maxOutputBytes?: number | undefined;
  /** Whether silence is no sign of trouble: switches the no-output limit off. @defaultValue false */
  readonly printsOnlyAtEnd?: boolean | undefined;
  /** @defaultValue preset `subprocess` */
  readonly policy?: PolicyInput | undefined;
}

/** One run of a subprocess integration. */
export interface RunRequest {
  /** Follow those of the integration. @defaultValue [] */
  readonly args?: readonly string[] | undefined;
  /** Written to the child, then closed. Without it the child's stdin is closed from the start. */
  readonly stdin?: string | Uint8Array | undefined;
  readonly cwd?: string | undefined;
}

const optionNames = [
  'command',
  'args',
  'cwd',
  'env',
  'envMode',
  'graceMs',
  'maxOutputBytes',
  'printsOnlyAtEnd',
  'policy',
];

/**
 * An integration whose every attempt is a process: a temporary child of the root supervisor. The call path holds the limits and
 * settles the caller at the deadline; ending the process and everything below it goes on behind.
 */
export function superviseSubprocess(
  runtime: Runtime,
  name: string,
  options: SubprocessOptions,
): CallPath<RunRequest, ProcessExit> {
  checkKeys(name, options, optionNames);
  checkName(`${name}.command`, options.command);
  const graceMs = checkNumber(`${name}.graceMs`, options.graceMs ?? 5000);
  const base = resolvePolicy(name, { preset: 'subprocess', ...options.policy });
  const limits = options.printsOnlyAtEnd === true ? { ...base.limits, idleMs: Number.POSITIVE_INFINITY } : base.limits;
  // Killing takes up to its grace; only then is a process that goes on one that would not end.
  const policy = { ...base, limits, abortGraceMs: Math.max(base.abortGraceMs, graceMs + 2000) };
  let lastRun = 0;

  return superviseIntegration(runtime, {
    name,
    policy,
    describeTimeout,
    operation: (request: RunRequest, context) => {
      const { args = [], policy: _policy, printsOnlyAtEnd: _prints, ...spawn } = options;
      const input: SubprocessInput = {
        ...spawn,
        ...request,
        args: [...args, ...(request.args ?? [])],
        graceMs,
        clock: runtime.clock,
      };
      return run(runtime, `process:${name}:${++lastRun}`, input, context, graceMs);
    },
  });
}

function run(
  runtime: Runtime,
  id: string,
  input: SubprocessInput,
  context: AttemptContext,
  graceMs: number,
): Promise<ProcessExit> {
  return new Promise((resolve, reject) => {
    let started: AnyActorRef | undefined;
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
        const exit = (started?.getSnapshot() as { output?: ProcessExit } | undefined)?.output;
        if (exit === undefined) reject(error ?? endedEarly(input.command));
        else settle(exit);
      },
    });
    const { signal } = context;
    const kill = (): void => {
      started?.send({ type: 'process.kill', reason: killReason(signal.reason) });
    };
    if (signal.aborted) kill();
    else signal.addEventListener('abort', kill, { once: true });

    function tell(event: SubprocessEmitted): void {
      if (event.type === 'process.output') context.touch();
      else runtime.bus.tell({ ...event, process: id });
    }
    function settle(ended: ProcessExit): void {
      signal.removeEventListener('abort', kill);
      const facts = exitFacts(ended);
      if (facts === undefined) resolve(ended);
      else reject(new AttemptError(facts));
    }
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

function killReason(reason: unknown): 'cancelled' | 'overall-timeout' | 'no-output-timeout' {
  if (!(reason instanceof AttemptError) || reason.facts.kind !== 'timeout') return 'cancelled';
  return reason.facts.reason === 'idle_timeout' ? 'no-output-timeout' : 'overall-timeout';
}

function describeTimeout(reason: FailureReason, limitMs: number): string {
  const seconds = Math.round(limitMs / 100) / 10;
  return reason === 'idle_timeout'
    ? `CLI produced no output for ${seconds}s and was terminated.`
    : `CLI exceeded timeout (${seconds}s) and was terminated.`;
}
