/** A message as it is written, its end included; inside a batch without. */
export type Line = Uint8Array | string;

/** The way of every line to the client. */
interface Outlet {
  write(line: Line): void;
  /** Collects what is written while `run` runs, instead of writing it. */
  collect(run: () => void): readonly Line[];
}

export function createOutlet(write: (line: Line) => void): Outlet {
  let collected: Line[] | undefined;
  return {
    write(line) {
      if (collected === undefined) write(line);
      else collected.push(line);
    },
    collect(run) {
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
