import { PassThrough } from 'node:stream';

export interface PipedMessage {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A client of a proxy on stdio: it writes requests and reads lines, all of which must be whole messages. */
export class PipedClient {
  readonly input = new PassThrough();
  readonly output = new PassThrough();
  #rest = '';

  /** @param heard - told each message. @param garbled - told a line that is none. */
  constructor(heard: (message: PipedMessage) => void, garbled: (line: string) => void) {
    this.output.on('data', (chunk: Buffer) => {
      const lines = (this.#rest + chunk.toString()).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) {
        try {
          heard(JSON.parse(line) as PipedMessage);
        } catch {
          garbled(line);
        }
      }
    });
  }

  send(message: object): void {
    this.input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}
