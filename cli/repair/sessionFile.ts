import { readSync } from 'node:fs';
import { recordIn } from '../../src/protocol/face.ts';
import { isLogEntry, type TranscriptFormat } from '../../transcript/detect.ts';
import { Findings } from '../../transcript/findings.ts';
import { interruptedBy } from '../../transcript/interrupted.ts';
import { parseLine, editedEntries } from '../../transcript/session.ts';
import { planSession, type SessionPlan } from '../../transcript/sessionPlan.ts';
import { emptyScan, scanEntry } from '../../transcript/sessionScan.ts';
import { CommandError } from '../errors.ts';
import type { Draft, Source } from './replace.ts';

const interrupted = interruptedBy(undefined);

/**
 * Repairs a session's log of any size. It is read twice: once for ids and places, of which alone anything is kept, then to copy
 * what stays and write what changes. Undefined when no line is an entry of a session and `format` did not say that it is one.
 */
export async function repairLog(source: Source, format: TranscriptFormat | undefined): Promise<Draft | undefined> {
  const scan = emptyScan();
  /** Starts of each line, and at last the end of the file. */
  const starts: number[] = [];
  let isLog = format !== undefined;
  await readLines(source, (line, start) => {
    const entry = parseLine(line);
    isLog ||= isLogEntry(recordIn(entry) ?? {});
    starts.push(start);
    scanEntry(scan, entry, interrupted);
  });
  if (!isLog) return undefined;
  starts.push(source.size);
  const findings = new Findings();
  const plan = planSession(scan, findings);
  const isOpen = textAt(source, source.size - 1, source.size) !== '\n';
  if (isOpen && scan.broken.at(-1) === scan.lines) findings.add({ rule: 'torn_end', at: scan.lines });
  const report = findings.report();
  const isRepaired = report.repairs > 0;
  return {
    ...report,
    format: 'claude-code',
    unit: 'line',
    async *pieces() {
      yield* editedPieces(source, plan, starts);
      if (isRepaired && isOpen && !plan.has(scan.lines)) yield '\n';
    },
  };
}

async function* editedPieces(source: Source, plan: SessionPlan, starts: readonly number[]) {
  const read = (line: number): unknown => parseLine(textAt(source, starts[line - 1] ?? 0, starts[line] ?? 0));
  let copied = 0;
  for (const [line, edit] of [...plan].sort(([a], [b]) => a - b)) {
    const start = starts[line - 1] ?? 0;
    const end = starts[line] ?? source.size;
    yield* bytesBetween(source, copied, start);
    const entry = read(line);
    for (const each of editedEntries(entry, edit, read, interrupted.sentence)) {
      const text = each === entry ? textAt(source, start, end).replace(/\n$/, '') : JSON.stringify(each);
      yield `${text}\n`;
    }
    copied = end;
  }
  yield* bytesBetween(source, copied, source.size);
}

const chunkBytes = 1024 * 1024;

async function* bytesBetween({ handle, path, signal }: Source, start: number, end: number) {
  // Used again for each piece: one is written before the next is asked for.
  const chunk = Buffer.alloc(Math.min(chunkBytes, end - start));
  for (let at = start; at < end; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.length, end - at), at);
    if (bytesRead === 0) throw new CommandError(`${path} became shorter while it was read. Nothing was done.`);
    yield chunk.subarray(0, bytesRead);
    at += bytesRead;
  }
}

function textAt({ handle }: Source, start: number, end: number): string {
  const bytes = Buffer.alloc(end - start);
  const length = readSync(handle.fd, bytes, 0, bytes.length, start);
  return bytes.toString('utf8', 0, length);
}

/** Longest line; longer ones do not become one string. */
const maxLineBytes = 128 * 1024 * 1024;
const newline = 0x0a;

/**
 * Gives each line of a file without its end, and where it starts. Holds one line at a time.
 * @throws {@link CommandError} when a line is too long; the reason of `signal` when it is aborted.
 */
async function readLines(
  { handle, path, size, signal }: Source,
  onLine: (line: string, start: number) => void,
): Promise<void> {
  const chunk = Buffer.alloc(chunkBytes);
  let pieces: Buffer[] = [];
  let held = 0;
  let start = 0;
  let count = 0;
  const complete = (piece: Buffer): void => {
    count++;
    const line = held === 0 ? piece : Buffer.concat([...pieces, piece]);
    onLine(line.toString('utf8'), start);
    pieces = [];
    held = 0;
  };

  for (let at = 0; at < size; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(chunk, 0, Math.min(chunkBytes, size - at), at);
    if (bytesRead === 0) break;
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0 && end < bytesRead; end = chunk.indexOf(newline, from)) {
      complete(chunk.subarray(from, end));
      from = end + 1;
      start = at + from;
    }
    if (from < bytesRead) {
      pieces.push(Buffer.from(chunk.subarray(from, bytesRead)));
      held += bytesRead - from;
      if (held > maxLineBytes) {
        throw new CommandError(`Line ${count + 1} of ${path} is longer than ${maxLineBytes} bytes.`);
      }
    }
    at += bytesRead;
  }
  if (held > 0) complete(Buffer.alloc(0));
}
