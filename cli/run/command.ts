import { bringExeca } from '../../src/actors/process/execaPackage.ts';
import { defineCommand } from '../command.ts';
import { exitCodeLines, exitCodes, runExitCodes } from './exitCode.ts';
import { runOptions } from './options.ts';

/** `unwedge run`; only its options are here, so that asking for help loads no runtime. */
export const run = defineCommand({
  name: 'run',
  summary: 'run a command under limits, with retries and a circuit breaker',
  usage: 'run [OPTION...] -- COMMAND [ARG...]',
  details: [
    "Output passes as it is, and so does the command's exit code. These are others:",
    ...exitCodeLines(runExitCodes),
    'An overload of the API gives 75 where Claude or Codex tells of it; another command keeps its own code.',
    'Where an agent may have acted 75 means no such thing: another run begins anew. The last line says so, and `effects` of --json.',
    'Runs that crash, hang, time out, or say on stderr that a service was not available (HTTP 503, connection refused, overloaded)',
    'count as failures: after 5 in a row, of this and later runs of the same name, it is not run for 1m. Another exit code is an answer.',
    'Attempts beyond those five are not made, however many are given by --attempts.',
    'With more than one attempt only the output of the last one is shown, and the command gets no stdin but the --prompt-file.',
    'On a terminal the command has it to itself: Ctrl-C is its own, and without --timeout or --no-output-timeout there is no limit.',
    'What it leaves running in the background is ended with it.',
  ].join('\n'),
  takesCommand: true,
  errorCode: exitCodes.ownError,
  options: runOptions,
  run: async (args, io, rest) => {
    bringExeca(() => import('./execaCopy.ts'));
    return (await import('./runCommand.ts')).runCommand(args, io, rest);
  },
});
