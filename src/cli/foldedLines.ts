import type { ReplayLine } from '../replay/result.ts';

/** Lines that are shown before and after one that is not the same. */
const around = 3;
/** A run of lines that is no longer is not worth a fold. */
const shortRun = 2;
/** A timeline in which all is the same is shown whole up to here. */
const shortTimeline = 12;

/** A timeline as a diff shows it: what differs with what is around it, and of each run of other lines their number. */
export function foldedLines(lines: readonly ReplayLine[]): readonly (ReplayLine | number)[] {
  if (lines.length <= shortTimeline && lines.every(({ isSame }) => isSame)) return lines;
  const rows: (ReplayLine | number)[] = [];
  let run: ReplayLine[] = [];
  const close = (): void => {
    rows.push(...(run.length > shortRun ? [run.length] : run));
    run = [];
  };
  for (const [index, line] of lines.entries()) {
    const isNear = lines.slice(Math.max(0, index - around), index + around + 1).some(({ isSame }) => !isSame);
    if (!isNear) {
      run.push(line);
      continue;
    }
    close();
    rows.push(line);
  }
  close();
  return rows;
}
