import { systemClock } from '../../src/runtime/face.ts';
import { checkAcpAgent } from '../../testing/acp/acpCheck.ts';
import type { Io } from '../io.ts';
import { toJson } from '../sanitize.ts';
import { tableOf } from '../table.ts';
import { agentWords } from './agentWords.ts';
import type { AcpArgs } from './options.ts';

/** Does what `unwedge acp --check` was asked to do. Gives the exit code: 0 when no must is broken, else 1. */
export async function checkCommand({ json }: Pick<AcpArgs, 'json'>, io: Io, rest: readonly string[]): Promise<number> {
  const [command, ...args] = agentWords(rest);
  const { env, signal } = io;
  const report = await checkAcpAgent({ command, args, env, signal, clock: systemClock });
  if (json) io.stdout.write(toJson(report));
  else {
    io.stdout.write(
      tableOf(report.rows, io.columns, [
        { title: '', cell: ({ result }) => result },
        { title: 'MUST', stacks: true, cell: ({ must }) => must },
        { title: 'SEEN', stacks: true, cell: ({ seen }) => seen },
      ]),
    );
    if (report.stderr !== undefined) io.stderr.write(`It said last: ${report.stderr}\n`);
  }
  return report.passed ? 0 : 1;
}
