import type { IncomingMessage } from 'node:http';
import { memberSpan } from '../../src/protocol/mcp/face.ts';

/** The body of a request: whole, to be sent again, or what came of one that is too large for that, with the rest still to come. */
export type RequestBody =
  | { readonly kind: 'whole'; bytes: Buffer }
  | { readonly kind: 'passing'; readonly head: readonly Buffer[]; readonly rest: IncomingMessage };

/** Bound on the bodies that are kept, over all requests that are under way. */
export class KeptBodies {
  readonly #maxEach: number;
  readonly #maxAll: number;
  #bytes = 0;

  /** @param maxEach - bytes of one body. @param maxAll - of all together. */
  constructor(maxEach: number, maxAll: number) {
    this.#maxEach = maxEach;
    this.#maxAll = maxAll;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Reads a body, and keeps it until it is released.
   * @throws what the connection of the client broke with.
   */
  read(request: IncomingMessage): Promise<RequestBody> {
    const announced = Number(request.headers['content-length'] ?? 0);
    if (!this.#fits(announced)) return Promise.resolve({ kind: 'passing', head: [], rest: request });
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      const onData = (chunk: Buffer): void => {
        chunks.push(chunk);
        bytes += chunk.length;
        this.#bytes += chunk.length;
        if (bytes <= this.#maxEach && this.#bytes <= this.#maxAll) return;
        request.pause();
        leave();
        this.#bytes -= bytes;
        resolve({ kind: 'passing', head: chunks, rest: request });
      };
      let isWhole = false;
      const onEnd = (): void => {
        isWhole = true;
        resolve({ kind: 'whole', bytes: chunks.length === 1 ? (chunks[0] ?? empty) : Buffer.concat(chunks) });
        // Its listeners live as long as the request, which may be for hours.
        chunks.length = 0;
      };
      const onClose = (): void => {
        if (isWhole) return;
        leave();
        this.#bytes -= bytes;
        reject(new Error('The client left before its request was there'));
      };
      const leave = (): void => {
        request.off('data', onData).off('end', onEnd).off('close', onClose);
      };
      request.on('error', () => undefined);
      request.on('data', onData).once('end', onEnd).once('close', onClose);
    });
  }

  release(body: RequestBody): void {
    if (body.kind !== 'whole') return;
    this.#bytes -= body.bytes.length;
    body.bytes = empty;
  }

  #fits(bytes: number): boolean {
    return bytes <= this.#maxEach && this.#bytes + bytes <= this.#maxAll;
  }
}

const empty = Buffer.alloc(0);

/** Facts that the body of a model call gives of it. */
export interface AskedModel {
  /** The model, where it can be named in records. */
  readonly model: string | undefined;
  /** True where its answer is to be a stream. */
  readonly streams: boolean;
  /** Answers that it asks for at once, which come in one stream. */
  readonly choices: number;
}

/** Clients put the model first; so far they are looked at as they are. */
const headBytes = 256;
/** A longer body is not walked through for the name of its model. */
const mostWalked = 1024 * 1024;

/** Looks at as little of a body as it can: it may have megabytes. */
export function askedModel(body: RequestBody): AskedModel {
  const bytes = body.kind === 'whole' ? body.bytes : (body.head[0] ?? empty);
  return {
    model: modelIn(bytes, body.kind === 'whole'),
    // Written by JSON of JavaScript, or of Python. Within a text its quotes would be escaped.
    streams: bytes.includes('"stream":true') || bytes.includes('"stream": true'),
    choices: choicesIn(bytes),
  };
}

/** A key as short as `n` may stand anywhere: one too many waits for the end of the body, one too few would end half of an answer. */
function choicesIn(bytes: Buffer): number {
  if (!bytes.includes('"n":') && !bytes.includes('"candidateCount":')) return 1;
  const told = [...bytes.toString('latin1').matchAll(/"(?:n|candidateCount)"\s*:\s*(\d{1,3})\b/g)];
  return Math.max(1, ...told.map(([, count]) => Number(count)));
}

function modelIn(bytes: Buffer, isWhole: boolean): string | undefined {
  const head = bytes.toString('latin1', 0, headBytes);
  const first = /^\s*\{\s*"model"\s*:\s*"([^"\\]{1,128})"/.exec(head)?.[1];
  if (first !== undefined) return nameable(first);
  if (!isWhole || bytes.length > mostWalked) return undefined;
  const text = bytes.toString('latin1');
  const span = memberSpan(text, 'model');
  return span === undefined ? undefined : nameable(text.slice(span.start + 1, span.end - 1));
}

/** A name goes into tables, files and commands. */
function nameable(model: string): string | undefined {
  return /^[\w.:@/-]{1,80}$/.test(model) ? model : undefined;
}
