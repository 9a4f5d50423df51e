import { readFile } from 'node:fs/promises';
import type { RunRequest } from '../../src/integrations/subprocess/face.ts';
import { CommandError, UsageError } from '../errors.ts';
import { quoted } from '../sanitize.ts';
import { messageOf } from '../../src/policy/failures/face.ts';

/**
 * Reads what each attempt gets on stdin. Text may also go where the arguments have a place for it; other bytes go to stdin as they are.
 * @param file - `-` is our stdin.
 * @throws {@link CommandError} when it cannot be read, {@link UsageError} when it is empty, the signal's reason when that aborts.
 */
export async function readPrompt(file: string, signal: AbortSignal): Promise<RunRequest> {
  const bytes = await (file === '-' ? readStdin(signal) : readFile(file, { signal })).catch((error: unknown) => {
    signal.throwIfAborted();
    const message = messageOf(error);
    throw new CommandError(`Cannot read the prompt: ${message}`, { cause: error });
  });
  if (bytes.length === 0)
    throw new UsageError(`The prompt is empty: nothing in ${file === '-' ? 'stdin' : quoted(file)}`);
  try {
    return { prompt: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { stdin: bytes };
  }
}

async function readStdin(signal: AbortSignal): Promise<Buffer> {
  const { stdin } = process;
  const stop = (): void => void stdin.destroy(new Error('ended'));
  signal.addEventListener('abort', stop, { once: true });
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
