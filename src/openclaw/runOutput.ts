import { StringDecoder } from 'node:string_decoder';
import type { OutputStream } from '../machines/subprocessInput.ts';
import { messageOf } from '../policy/thrown.ts';
import type { SpawnInput } from './supervisorTypes.ts';

const usualChars = 1_048_576;
const leastChars = 256;

/** Told what a listener threw. */
export type ListenerFailed = (message: string) => void;

/** The output of a run: what is kept of it, and who hears it. */
export class RunOutput {
  readonly #captured = { stdout: '', stderr: '' };
  readonly #decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  readonly #listeners: Record<OutputStream, ((chunk: Uint8Array, text: string) => void)[]>;
  readonly #most: number;
  readonly #captures: boolean;
  #detached = false;

  constructor(input: SpawnInput, failed: ListenerFailed) {
    const { captureOutput = true, maxCapturedOutputChars: most = usualChars } = input;
    this.#captures = captureOutput;
    this.#most = most > 0 && Number.isFinite(most) ? Math.max(leastChars, Math.floor(most)) : usualChars;
    const raw = input.mode === 'child' ? input : undefined;
    this.#listeners = {
      stdout: listeners(input.onStdout, raw?.onStdoutRaw, failed),
      stderr: listeners(input.onStderr, raw?.onStderrRaw, failed),
    };
  }

  hear(chunk: Uint8Array, stream: OutputStream): void {
    if (this.#detached) return;
    const text = this.#decoders[stream].write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    this.#keep(text, stream);
    for (const tell of this.#listeners[stream]) tell(chunk, text);
  }

  detach(): void {
    this.#detached = true;
  }

  /** What is kept of both streams. No more is heard after it. */
  end(): { readonly stdout: string; readonly stderr: string } {
    for (const stream of ['stdout', 'stderr'] as const) {
      const rest = this.#detached ? '' : this.#decoders[stream].end();
      if (rest === '') continue;
      this.#keep(rest, stream);
      for (const tell of this.#listeners[stream]) tell(new Uint8Array(), rest);
    }
    this.#detached = true;
    return this.#captured;
  }

  #keep(text: string, stream: OutputStream): void {
    if (!this.#captures) return;
    const next = this.#captured[stream] + text;
    if (next.length <= this.#most) {
      this.#captured[stream] = next;
      return;
    }
    const note = `[captured ${stream} truncated to last ${this.#most} chars]\n`;
    this.#captured[stream] = note + next.slice(note.length - this.#most).replace(/^[\uDC00-\uDFFF]/, '');
  }
}

/** Each hears until it throws. */
function listeners(
  asText: ((chunk: string) => void) | undefined,
  asBytes: ((chunk: Uint8Array) => void) | undefined,
  failed: ListenerFailed,
): ((chunk: Uint8Array, text: string) => void)[] {
  return [
    guarded((_: Uint8Array, text: string) => text !== '' && asText?.(text), failed),
    guarded((chunk: Uint8Array) => chunk.length > 0 && asBytes?.(chunk), failed),
  ];
}

function guarded<A extends unknown[]>(tell: (...args: A) => unknown, failed: ListenerFailed): (...args: A) => void {
  let hasFailed = false;
  return (...args) => {
    if (hasFailed) return;
    try {
      tell(...args);
    } catch (error) {
      hasFailed = true;
      failed(messageOf(error));
    }
  };
}
