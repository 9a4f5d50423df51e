import { exitFacts } from '../../actors/process/processExit.ts';
import { valueHider } from '../../actors/process/valueHider.ts';
import type { HookEvent, HookHandler } from './userHooks.ts';
import type { AttemptContext } from '../../calls/operation.ts';
import type { Duration } from '../../policy/text/duration.ts';
import type { ProcessExit } from '../../machines/subprocessExit.ts';
import type { CommandOptions, SubprocessInput } from '../../machines/subprocessInput.ts';
import { AttemptError, type FailureFacts } from '../../policy/failures/failure.ts';
import { type CommandHookAnswer, commandHookInput, judgeCommandHook } from '../../protocol/commandHook.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { nameOfCommand, runProcess, traceVariables } from '../subprocess/subprocessRun.ts';

/** A hook that is a command, as Claude Code's hooks are: JSON on stdin, exit 2 blocks, JSON on stdout is honoured. */
export interface HookCommand extends CommandOptions {
  /** Time between SIGTERM and SIGKILL, in ms, at least 0. @defaultValue 1000 */
  readonly graceMs?: Duration | undefined;
}

/** A handler that runs the command, a process of its own for each event. Its answer is a {@link CommandHookAnswer}. */
export function commandHookHandler(
  runtime: Runtime,
  name: string,
  command: HookCommand & { readonly graceMs: number },
): HookHandler {
  const { graceMs } = command;
  const calledAs = nameOfCommand(command.command, undefined);
  let runs = 0;
  const hide = valueHider(command.env ?? {});
  // Text that it writes there goes to an agent, into logs and records, whether it failed or blocked.
  const clean = (text: string): string => runtime.redactAnswer({ text: hide(text) }).text;
  return async (event: HookEvent, context: AttemptContext): Promise<CommandHookAnswer> => {
    const stdin = inputOf(event, command.cwd ?? process.cwd());
    const input: SubprocessInput = {
      ...command,
      env: { ...traceVariables(context.traceContext), ...command.env },
      envMode: command.envMode ?? runtime.environment,
      stdin,
      graceMs,
      calledAs,
      register: runtime.register,
      clock: runtime.clock,
    };
    const exit = await runProcess(runtime, { id: `hook:${name}:${++runs}`, input, graceMs }, context);
    const isCut = exit.reason === 'output-cut';
    if ((exit.reason !== 'exit' && !isCut) || exit.exitCode === undefined) {
      throw new AttemptError(factsOf(exit, calledAs));
    }
    const { exitCode, stdout, stderr } = exit;
    const said = { stdout: stdout.text, stderr: clean(stderr.text) };
    const verdict = judgeCommandHook(event.event, { exitCode, ...said, isCut });
    if (verdict.ok) return verdict.answer;
    if (isCut && exitCode === 0) throw new AttemptError({ ...factsOf(exit, calledAs), message: verdict.message });
    // An exit code of its own proves that it lives; output that cannot be read does not.
    throw new AttemptError(failure(exitCode === 0 ? 'protocol' : 'permanent', verdict.message, exitCode));
  };
}

function inputOf(event: HookEvent, cwd: string): string {
  try {
    return commandHookInput(event, cwd);
  } catch (cause) {
    throw new AttemptError({
      ...failure('permanent', 'The event cannot be written as JSON'),
      outcome: 'not_started',
      cause,
    });
  }
}

function factsOf(exit: ProcessExit, calledAs: string): FailureFacts {
  return exitFacts(exit, { calledAs }) ?? failure('unknown', exit.message);
}

function failure(kind: FailureFacts['kind'], message: string, code?: number): FailureFacts {
  return { kind, message, outcome: 'failed', code };
}
