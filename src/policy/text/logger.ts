/** Sink for diagnostics: a line for people and its fields, as `console` and most loggers take them. Silent unless the host gives one. */
export interface Logger {
  debug(message: string, fields?: object): void;
  info(message: string, fields?: object): void;
  warn(message: string, fields?: object): void;
  error(message: string, fields?: object): void;
}

export type LogLevel = keyof Logger;

/** Logs one line; a logger that throws is as good as none. Never throws. */
export function say(logger: Logger | undefined, level: LogLevel, message: string, fields?: object): void {
  try {
    // Not as a second argument of undefined: `console` would print the word.
    if (fields === undefined) logger?.[level](message);
    else logger?.[level](message, fields);
  } catch {
    // A broken logger must not break what it reports on, and there is nobody left to tell.
  }
}
