import { stripVTControlCharacters } from 'node:util';
import { fitText, textWidth } from '../src/policy/text/face.ts';
import { durationWord } from './parse.ts';
import { CommandError, UsageError } from './errors.ts';
import { type Io, pause } from './io.ts';
import { quoted, sanitize, toJsonLine } from './sanitize.ts';
import { createStyle, localTime } from './text.ts';
import { told } from './ownCommand.ts';

const usualMs = 2_000;
/** Oftener than this nobody can read. */
const leastMs = 100;

/** Output that a command wrote in one go. */
interface Shown {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs `show` again and again until the command is to end: on a terminal in place, elsewhere one below the other. What goes wrong the
 * first time is thrown; later it is shown, and looked at again.
 * @param interval - as it was written; undefined for 2s.
 * @returns the exit code of the last time.
 */
export async function watch(
  show: (io: Io) => Promise<number>,
  interval: string | undefined,
  isJson: boolean,
  io: Io,
): Promise<number> {
  const everyMs = intervalOf(interval);
  let shown = await capture(show, io);
  let said = '';
  let isFirst = true;
  for (;;) {
    if (io.isTTY && !isJson) io.stdout.write(inPlace(shown, isFirst, io));
    else {
      io.stdout.write(below(shown, isJson, isFirst, io));
      // The same trouble is said once.
      if (shown.stderr !== said) io.stderr.write(shown.stderr);
      said = shown.stderr;
    }
    isFirst = false;
    if (!io.signal.aborted) await pause(io, everyMs);
    if (io.signal.aborted) return shown.code;
    shown = await capture(show, io).catch((error: unknown) => asTrouble(error, io));
  }
}

function intervalOf(text: string | undefined): number {
  if (text === undefined) return usualMs;
  const ms = durationWord('INTERVAL', text);
  if (ms < leastMs) throw new UsageError(`Expected \`INTERVAL\` to be at least ${leastMs}ms, got ${quoted(text)}`);
  return ms;
}

async function capture(show: (io: Io) => Promise<number>, io: Io): Promise<Shown> {
  let stdout = '';
  let stderr = '';
  const code = await show({
    ...io,
    columns: io.columns,
    page: io.isTTY ? io.rows : undefined,
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
  });
  return { code, stdout, stderr };
}

function asTrouble(error: unknown, io: Io): Shown {
  if (!(error instanceof CommandError)) throw error;
  return { code: 1, stdout: '', stderr: `unwedge: ${told(sanitize(error.message), io)}\n` };
}

/** From the first line of the screen on; each line is cleared behind its end, and what is left of the screen below. */
function inPlace({ stdout, stderr }: Shown, isFirst: boolean, io: Io): string {
  const heading = createStyle(io).dim(fitText(`${localTime(io.now())}  Ctrl-C ends`, Math.max(1, io.columns)));
  const lines = [heading, ...`${stdout}${stderr}`.trimEnd().split('\n')];
  const count = Math.max(1, countFitting(lines, io));
  // The last line that there is room for tells how much is cut off.
  const isCut = count < lines.length && count > 2;
  const fitting = isCut
    ? [...lines.slice(0, count - 1), fitText(`… and ${lines.length - count + 1} lines more`, Math.max(1, io.columns))]
    : lines.slice(0, count);
  return `${isFirst ? '\u001b[2J' : ''}\u001b[H${fitting.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`;
}

/** Counts the lines there is room for: one too many would scroll the first one off. A line that is wider than the terminal takes several. */
function countFitting(lines: readonly string[], { rows, columns }: Io): number {
  let left = (rows || Number.POSITIVE_INFINITY) - 1;
  const isBeyond = (line: string): boolean => {
    left -= Math.max(1, Math.ceil(textWidth(stripVTControlCharacters(line)) / (columns || Number.POSITIVE_INFINITY)));
    return left < 0;
  };
  const beyond = lines.findIndex(isBeyond);
  return beyond < 0 ? lines.length : beyond;
}

function below({ stdout }: Shown, isJson: boolean, isFirst: boolean, io: Io): string {
  if (isJson) return stdout === '' ? '' : toJsonLine(JSON.parse(stdout));
  return `${isFirst ? '' : '\n'}${localTime(io.now())}\n${stdout}`;
}
