/** Rate that people expect of calls: below it a figure has a colour. */
const goal = 0.99;

export const isLow = (rate: number | undefined): boolean => rate !== undefined && rate < goal;

export function percent(share: number | undefined): string {
  if (share === undefined) return '–';
  // A share that is not all of it is not shown as if it were.
  const shown = share < 1 ? Math.min(99.99, Math.round(share * 10_000) / 100) : 100;
  return `${shown.toFixed(2)} %`;
}

export const count = (number: number): string => number.toLocaleString('en-US');

export function counted(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** Time of day, with the date where it is of another day. */
export function clockTime(at: number, now: number): string {
  const date = new Date(at);
  const time = date.toLocaleTimeString('en-GB');
  const isToday = date.toDateString() === new Date(now).toDateString();
  return isToday ? time : `${date.toLocaleDateString('en-CA')} ${time}`;
}

/** The kinds of failures, the most frequent first. */
export function failureText(failures: Readonly<Partial<Record<string, number>>>): string {
  const kinds = Object.entries(failures)
    .filter(([, number]) => (number ?? 0) > 0)
    .sort(([, one], [, other]) => (other ?? 0) - (one ?? 0));
  return kinds.length === 0 ? 'none' : kinds.map(([kind, number]) => `${count(number ?? 0)} ${kind}`).join(', ');
}
