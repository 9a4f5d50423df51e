import type { Writable } from 'node:stream';
import { type Given, boolean, having, readOptions, readValue } from '../src/policy/options/face.ts';
import { runKey } from './sseOptions.ts';
import { BackpressuredWriter } from './backpressuredWriter.ts';
import { eventLine, progressText } from './progressText.ts';
import { type ReadEvent, RunReader, type WatchedRun } from './runReader.ts';

/** A terminal, or any other stream of text. */
export type ProgressStream = Writable & {
  readonly isTTY?: boolean | undefined;
  /** Width in characters. */
  readonly columns?: number | undefined;
};

const progressKeys = {
  /** Writes one line over and over, rather than a line for each item that ends. @defaultValue on a terminal that can, by `TERM` */
  rewrite: boolean(),
};

/** Options of writing progress. */
export interface ShowProgressOptions extends Given<typeof progressKeys> {}

const usualColumns = 80;
const clearLine = '\r\u001b[2K';

/**
 * Shows people where a run stands, without colours. On a terminal it rewrites one line, and adds a line for each failed item and each
 * fallback. Elsewhere it writes a line for each item that ends. It writes no faster than the stream takes it, and has no effect on the run.
 * @returns when the run has ended and was shown, or the stream is gone. Never rejects.
 * @throws TypeError or RangeError when an argument is wrong.
 */
export function showProgress(
  run: WatchedRun,
  stream: ProgressStream,
  options: ShowProgressOptions = {},
): Promise<void> {
  readValue('run', run, runKey);
  readValue('stream', stream, having('an object', ['write', 'on', 'off'], { required: true }));
  readOptions('options', options, progressKeys);
  const rewrites = options.rewrite ?? (stream.isTTY === true && process.env['TERM'] !== 'dumb');
  return show(run, stream, rewrites);
}

async function show(run: WatchedRun, stream: ProgressStream, rewrites: boolean): Promise<void> {
  const reader = new RunReader(run);
  const writer = new BackpressuredWriter(stream, () => reader.leave());
  let shown = '';
  for (let read = await reader.next(); read !== undefined; read = await reader.next()) {
    const lines = linesOf(read, rewrites);
    // The last column stays free: some terminals go on in the next line when it is taken.
    const columns = (stream.columns || usualColumns) - 1;
    const status = rewrites && run.progress.phase !== 'ended' ? progressText(run.progress, columns) : '';
    if (lines.length === 0 && status === shown) continue;
    writer.put((rewrites ? clearLine : '') + lines.map((line) => `${line}\n`).join('') + status);
    shown = status;
    await writer.room();
  }
  if (shown !== '') writer.put(clearLine);
  await writer.release();
}

/** Lines that stay. */
function linesOf({ event, expected }: ReadEvent, rewrites: boolean): string[] {
  const missed = event.number - expected;
  const gap = missed > 0 ? [`(${missed} event${missed === 1 ? '' : 's'} not shown)`] : [];
  const passes = rewrites && event.type === 'workflow_item' && event.data.status !== 'failed';
  const line = passes ? undefined : eventLine(event);
  return line === undefined ? gap : [...gap, line];
}
