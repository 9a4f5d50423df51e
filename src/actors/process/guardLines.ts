/** Line from a runtime to its guard, each on its own: that a child lives, and that it and all below it are gone. */
type GuardLine =
  | { readonly is: 'alive'; readonly pid: number; readonly startTime: string | undefined }
  | { readonly is: 'gone'; readonly pid: number };

/** The line of a child that lives; without a start time where reading it takes a walk: the guard reads it then. */
export const aliveLine = (pid: number, startTime = ''): string => `+${pid} ${startTime}\n`;

export const goneLine = (pid: number): string => `-${pid}\n`;

/** Reads a line without its end; undefined when it is none of these. */
export function readGuardLine(line: string): GuardLine | undefined {
  const { sign, digits, startTime } = /^(?<sign>[+-])(?<digits>\d+) ?(?<startTime>.*)$/.exec(line)?.groups ?? {};
  const pid = Number(digits);
  if (sign === undefined || !Number.isSafeInteger(pid)) return undefined;
  return sign === '-' ? { is: 'gone', pid } : { is: 'alive', pid, startTime: startTime || undefined };
}
