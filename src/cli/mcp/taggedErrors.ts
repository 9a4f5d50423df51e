import { StringDecoder } from 'node:string_decoder';

type Write = (chunk: Uint8Array | string) => void;

/**
 * The stderr of several servers as one: each line begins with the name of its server. Nothing is held back, as the last words of a server may
 * have no end of line; a line that another server breaks into is ended before.
 */
export class TaggedErrors {
  readonly #write: Write;
  /** Server whose line has no end yet. */
  #open: string | undefined = undefined;

  constructor(write: Write) {
    this.#write = write;
  }

  /** Takes what a server writes. */
  of(name: string): Write {
    const decoder = new StringDecoder('utf8');
    const tag = `[${name}] `;
    return (chunk) => {
      const text = typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk));
      if (text === '') return;
      const goesOn = this.#open === name;
      const end = this.#open !== undefined && !goesOn ? '\n' : '';
      this.#open = text.endsWith('\n') ? undefined : name;
      this.#write(end + (goesOn ? '' : tag) + text.replaceAll(/\n(?=[^])/g, `\n${tag}`));
    };
  }
}
