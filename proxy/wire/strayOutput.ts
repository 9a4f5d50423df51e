import type { Clock, Timer } from '../../src/policy/face.ts';
import type { Facts } from '../../src/policy/facts/face.ts';

/** What is needed of a proxy to pass on what is no message. */
interface StrayScope {
  readonly name: string;
  readonly clock: Clock;
  readonly facts: Facts;
  readonly voice: { readonly errors: (chunk: string) => void; readonly say: (line: string) => void };
}

/** Lines that pass in one window. */
const mostLines = 20;
/** Characters of a line that pass. */
const longestLine = 1000;
const windowMs = 10_000;

/**
 * Output of a server to stdout that is no message: it passes to stderr, where people look for what a program printed. A server that floods its stdout must
 * not flood that of its client too, so in each window of 10 s no more passes than its first lines.
 */
export class StrayOutput {
  readonly #scope: StrayScope;
  #timer: Timer | undefined = undefined;
  #passed = 0;
  #lines = 0;
  #bytes = 0;
  /** It is on record that lines are left out, and they still are. */
  #isTold = false;

  constructor(scope: StrayScope) {
    this.#scope = scope;
  }

  /** Takes a line. @param text - a line, or what of one was before a message. */
  take(text: string): void {
    this.#timer ??= this.#scope.clock.setTimeout(this.#windowEnded, windowMs);
    if (this.#passed < mostLines) {
      this.#passed++;
      const line = text.replace(/\r?\n$/, '');
      const shown = line.slice(0, longestLine);
      const cut = line.length === shown.length ? 0 : Buffer.byteLength(line) - Buffer.byteLength(shown);
      this.#bytes += cut;
      this.#scope.voice.errors(cut === 0 ? `${line}\n` : `${shown}... (${sizeText(cut)} more)\n`);
      return;
    }
    this.#lines++;
    this.#bytes += Buffer.byteLength(text);
  }

  /** Its server is gone, or nobody listens any more. */
  end(): void {
    this.#scope.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#tell();
    this.#passed = 0;
    this.#isTold = false;
  }

  readonly #windowEnded = (): void => {
    this.#timer = undefined;
    this.#isTold = this.#tell();
    this.#passed = 0;
  };

  /** @returns whether lines were left out. */
  #tell(): boolean {
    if (this.#bytes === 0) return false;
    const { name, facts, voice } = this.#scope;
    const lines = this.#lines;
    const bytes = this.#bytes;
    this.#lines = 0;
    this.#bytes = 0;
    // Each of the lines says so where they were merely cut.
    if (lines > 0) {
      const what = lines === 1 ? '1 more line' : `${lines} more lines`;
      voice.say(`${name}: ${what} on stdout (${sizeText(bytes)}) that are no messages were left out`);
    }
    if (!this.#isTold) facts.tell({ type: 'mcp.stray_output', integration: name, lines, bytes });
    return true;
  }
}

function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${Math.round(bytes / 1000)} kB` : `${Math.round(bytes / 1_000_000)} MB`;
}
