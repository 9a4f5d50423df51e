/** A message as it is written, its end included; inside a batch without. */
export type Line = Uint8Array | string;

/** The way of every line to one side. */
export class Outlet {
  readonly #write: (line: Line) => boolean;
  #collected: Line[] | undefined = undefined;

  /** @param write - gives the other side a line; false when it cannot be written to. */
  constructor(write: (line: Line) => boolean) {
    this.#write = write;
  }

  write(line: Line): boolean {
    if (this.#collected === undefined) return this.#write(line);
    this.#collected.push(line);
    return true;
  }

  /** Collects what is written while `run` runs, instead of writing it. */
  collect(run: () => void): readonly Line[] {
    const lines: Line[] = [];
    this.#collected = lines;
    try {
      run();
    } finally {
      this.#collected = undefined;
    }
    return lines;
  }
}

export function textOf(line: Line): string {
  return typeof line === 'string' ? line : Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString('utf8');
}
