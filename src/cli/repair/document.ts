import { repairTranscript, type TranscriptRepair } from '../../protocol/transcript/repairTranscript.ts';
import type { TranscriptFormat } from '../../protocol/transcript/detect.ts';
import { CommandError } from '../errors.ts';
import type { Draft, Source } from './draft.ts';
import { messageOf } from '../../policy/thrown.ts';

/** Largest JSON document, which is held in memory as a whole. */
const maxBytes = 256 * 1024 * 1024;

/** Repairs a file that is one JSON document. Its indentation stays. */
export async function repairDocument(source: Source, format: TranscriptFormat | undefined): Promise<Draft> {
  const { path, size } = source;
  if (size > maxBytes) throw new CommandError(`${path} has ${size} bytes; JSON can be repaired up to ${maxBytes}.`);
  const bytes = Buffer.alloc(size);
  await source.handle.read(bytes, 0, size, 0);
  const text = decoded(path, bytes);
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const { history, ...report } = repaired(path, parsed(path, text.slice(mark.length)), format);
  const indent = /^\s*[[{]\r?\n([ \t]+)/.exec(text.slice(mark.length))?.[1] ?? '';
  return {
    ...report,
    unit: 'entry',
    async *pieces() {
      // Without a change it is copied byte for byte.
      if (report.repairs === 0) yield bytes;
      else yield `${mark}${JSON.stringify(history, null, indent)}${text.endsWith('\n') ? '\n' : ''}`;
    },
  };
}

function decoded(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new CommandError(`${path} is not UTF-8 text.`, { cause: error });
  }
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = messageOf(error);
    throw new CommandError(`${path} is neither JSON nor a session of Claude Code: ${why}`, { cause: error });
  }
}

function repaired(path: string, history: unknown, format: TranscriptFormat | undefined): TranscriptRepair<unknown> {
  try {
    return repairTranscript(history, { format });
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    const why = error.message.replaceAll('`format`', '--format').replaceAll('`history`', path);
    throw new CommandError(why, { cause: error });
  }
}
