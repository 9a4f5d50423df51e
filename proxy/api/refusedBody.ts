import type { IncomingMessage } from 'node:http';

/** Longest body of an answer that says no; a longer one is passed as it comes, in bytes. */
const mostRefused = 256 * 1024;

/** Handler of the body of an answer that says no. */
interface RefusalReader {
  /** Tells whether it is still collected: nothing of it went to the client, and the attempt goes on. */
  goesOn(): boolean;
  /** A chunk came that is kept. */
  touch(): void;
  /** Takes a chunk that came once it was too long. */
  pass(chunk: Buffer): void;
  /** It is too long to be judged as a whole: from here on it passes. @param chunks - all that came. */
  tooLong(chunks: Buffer[]): void;
  /** The end of one that was not collected to it. */
  passed(): void;
  /** All of it is there. */
  read(body: Buffer): void;
}

/** Collects the body of an answer that says no, as long as it is short enough to be judged as a whole. */
export function collectRefusal(answer: IncomingMessage, reader: RefusalReader): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  answer.on('data', (chunk: Buffer) => {
    if (!reader.goesOn()) {
      reader.pass(chunk);
      return;
    }
    reader.touch();
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > mostRefused) reader.tooLong(chunks);
  });
  answer.once('end', () => {
    if (reader.goesOn()) reader.read(Buffer.concat(chunks));
    else reader.passed();
  });
}
