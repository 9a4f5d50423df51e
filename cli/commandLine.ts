import { constants } from 'node:os';
import { type EndedBySignal, endedBySignal, type Io } from './io.ts';
import { ownCommand } from './ownCommand.ts';
import { runCommandLine } from './run.ts';

/** Runs a command line as this process, and leaves its exit code with it. */
export async function main(words: readonly string[]): Promise<void> {
  const controller = new AbortController();
  let endedBy: EndedBySignal | undefined;
  let leavesInterrupts = false;
  let isInterrupted = false;
  let leavesErrors = false;
  let isOutputLost = false;
  let endsWithCommand = false;
  let endsInOrder = false;

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (signal === 'SIGINT' && leavesInterrupts) {
        isInterrupted = true;
        return;
      }
      // The first asks, so that children are stopped in order; the second does not wait for that.
      if (endedBy !== undefined) process.exit(exitCodeOf(signal));
      endedBy = endedBySignal(signal);
      controller.abort(endedBy);
    });
  }

  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (leavesErrors && stream === process.stderr) return;
      // The reader is gone (`| head`); nothing that is written from now on can be of use to anyone.
      if (error.code === 'EPIPE') controller.abort(error);
      else {
        isOutputLost = true;
        process.exitCode ||= 1;
      }
    });
  }

  let own: string | undefined;

  const io: Io = {
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    // Few texts need it, and it takes a look at each folder of PATH.
    get own() {
      own ??= ownName();
      return own;
    },
    // Node types it as a boolean, and has none where stdout is no terminal.
    isTTY: process.stdout.isTTY === true,
    // Looked at anew each time: a window is resized.
    get columns() {
      return outputWidth(process.stdout, process.env) ?? Infinity;
    },
    get rows() {
      return process.stdout.isTTY ? process.stdout.rows || undefined : undefined;
    },
    get errorColumns() {
      return outputWidth(process.stderr, process.env);
    },
    signal: controller.signal,
    // Stdin is made when it is looked at, which takes longer than to print the help.
    get ask() {
      return process.stdin.isTTY && process.stderr.isTTY ? askPerson(controller.signal) : undefined;
    },
    leaveInterrupts: () => {
      leavesInterrupts = true;
      return () => isInterrupted;
    },
    leaveErrors: () => {
      leavesErrors = true;
    },
    endWithCommand: () => {
      endsWithCommand = true;
    },
    endInOrder: () => {
      endsInOrder = true;
    },
    now: () => Date.now(),
  };
  const code = await runCommandLine(words, io);
  const cause = endsInOrder ? undefined : endedBy;
  process.exitCode = cause === undefined ? code || Number(isOutputLost) : exitCodeOf(cause.signal);
  // Text that was written to a pipe is still on its way.
  if (endsWithCommand) process.stdout.write('', () => process.stderr.write('', () => process.exit()));
}

/** Finds the words by which this is started; where nothing can be looked at any more, out of descriptors, a text is told with its name all the same. */
function ownName(): string {
  try {
    return ownCommand({ env: process.env, cwd: process.cwd(), program: process.argv[1] ?? process.execPath });
  } catch {
    return 'unwedge';
  }
}

const askPerson =
  (signal: AbortSignal) =>
  async (question: string): Promise<string> => {
    const { createInterface } = await import('node:readline/promises');
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    // It reads Ctrl-C as a key, which would end the question alone.
    lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    try {
      return await lines.question(question, { signal });
    } catch {
      process.stderr.write('\n');
      return '';
    } finally {
      lines.close();
    }
  };

const exitCodeOf = (signal: EndedBySignal['signal']): number => 128 + constants.signals[signal];

/** Width of a terminal that does not say how wide it is. */
const usualColumns = 80;

/**
 * Returns the most width of text written to a stream, in characters: as its terminal says, or where it is none, as the environment variable COLUMNS says.
 * @returns undefined for no limit: no terminal, and no COLUMNS that is a whole number above 0.
 */
export function outputWidth(
  { isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>,
  { COLUMNS: given = '' }: Readonly<Record<string, string | undefined>>,
): number | undefined {
  // Some terminals say 0 when they do not know.
  if (isTTY) return columns || usualColumns;
  return /^[1-9]\d{0,5}$/.test(given) ? Number(given) : undefined;
}
