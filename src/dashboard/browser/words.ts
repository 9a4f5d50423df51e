/** A time for people, the two largest units: `4s`, `4m 02s`, `2h 05m`, `3d 4h`. */
export function lasting(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const two = (number: number): string => String(number).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${two(seconds % 60)}s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h ${two(minutes % 60)}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** How long calls took: `96ms`, `2.14s`, `12.4s`. */
export function latency(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)}ms`;
  return ms < 10_000 ? `${(ms / 1000).toFixed(2)}s` : ms < 60_000 ? `${(ms / 1000).toFixed(1)}s` : lasting(ms);
}

export function percent(share: number | undefined): string {
  if (share === undefined) return '–';
  // What is not all of it is not shown as if it were.
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
