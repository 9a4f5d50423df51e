/** A message as it is written, its end included; inside a batch without. */
export type Line = Uint8Array | string;

/** The way of every line to the client. */
export function createOutlet(write: (line: Line) => void) {
  let collected: Line[] | undefined;
  return {
    write(line: Line): void {
      if (collected === undefined) write(line);
      else collected.push(line);
    },
    /** Collects what is written while `run` runs, instead of writing it. */
    collect(run: () => void): readonly Line[] {
      const lines: Line[] = [];
      collected = lines;
      try {
        run();
      } finally {
        collected = undefined;
      }
      return lines;
    },
  };
}
