import type { AnyActorRef } from 'xstate';
import { processLogic } from './actors/process.ts';
import { exitFacts } from './actors/processExit.ts';
import type { CallPath } from './calls/callPath.ts';
import type { AttemptContext } from './calls/call.ts';
import type { ProcessExit, SubprocessEmitted, SubprocessInput } from './machines/subprocess.ts';
import { checkSubprocess } from './machines/subprocessInput.ts';
import { AttemptError, type FailureReason } from './policy/failure.ts';
import { checkKeys, checkName, checkNumber } from './policy/options.ts';
import { type PolicyInput, presets, resolvePolicy } from './policy/presets.ts';
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
  const { args = [], cwd, policy: policyInput, printsOnlyAtEnd, ...spawn } = options;
  checkName(`${name}.command`, options.command);
  const graceMs = checkNumber(`${name}.graceMs`, options.graceMs ?? 5000);
  checkSubprocess({ ...spawn, clock: runtime.clock });
  checkRun({ args, cwd }, (field) => new TypeError(`Expected \`${name}.${field}\` to be what a command takes`));
  const base = resolvePolicy(name, policyInput, presets.subprocess);
  const limits = printsOnlyAtEnd === true ? { ...base.limits, idleMs: Number.POSITIVE_INFINITY } : base.limits;
  // Killing takes up to its grace; only then is a process that goes on one that would not end.
  const policy = { ...base, limits, abortGraceMs: Math.max(base.abortGraceMs, graceMs + 2000) };
  let lastRun = 0;

  return superviseIntegration(runtime, {
    name,
    policy,
    describeTimeout,
    operation: (request: RunRequest, context) => {
      checkRun(request, (field) => {
        const message = `A run of ${name} takes args, stdin and cwd; its ${field} is none of it`;
        return new AttemptError({ kind: 'permanent', message, outcome: 'not_started' });
      });
      const input: SubprocessInput = {
        ...spawn,
        args: [...args, ...(request.args ?? [])],
        cwd: request.cwd ?? cwd,
        stdin: request.stdin,
        graceMs,
        clock: runtime.clock,
      };
      return run(runtime, `process:${name}:${++lastRun}`, input, context, graceMs);
    },
  });
}

const runFields: Readonly<Record<string, (value: unknown) => boolean>> = {
  args: (value) => Array.isArray(value) && value.every((arg) => typeof arg === 'string'),
  stdin: (value) => typeof value === 'string' || value instanceof Uint8Array,
  cwd: (value) => typeof value === 'string',
};

/** A request may come from an agent: it says how the command is run, never which. */
function checkRun(request: RunRequest, misuse: (field: string) => Error): void {
  for (const [field, value] of Object.entries(request)) {
    const isValid = Object.hasOwn(runFields, field) ? runFields[field] : undefined;
    if (value !== undefined && isValid?.(value) !== true) throw misuse(field);
  }
}

function run(
  runtime: Runtime,
  id: string,
  input: SubprocessInput,
  context: AttemptContext,
  graceMs: number,
): Promise<ProcessExit> {
  return new Promise((resolve, reject) => {
    const { signal } = context;
    let started: AnyActorRef | undefined;
    const kill = (): void => {
      started?.send({ type: 'process.kill', reason: killReason(signal.reason) });
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
          else settle(exit);
        },
      });
    } catch (error) {
      reject(notStarted(input.command, error));
    }

    function tell(event: SubprocessEmitted): void {
      if (event.type === 'process.output') context.touch();
      else runtime.bus.tell({ ...event, process: id });
    }
    function settle(ended: ProcessExit): void {
      const facts = exitFacts(ended);
      if (facts === undefined) resolve(ended);
      else reject(new AttemptError(facts));
    }
  });
}

/** The supervisor took no child, or the child threw before there was a process. */
function notStarted(command: string, cause: unknown): AttemptError {
  return new AttemptError({ kind: 'spawn', message: `${command} was not started`, outcome: 'not_started', cause });
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
