import type { Logger, LogLevel } from '../policy/logger.ts';
import type { FactRedactor } from './redactFact.ts';

/** A logger that hands on lines and fields without secrets. */
export function createRedactedLogger(logger: Logger, redact: FactRedactor): Logger {
  const level = (name: LogLevel) => (message: string, fields?: object) => {
    const line = redact({ message }).message;
    if (fields === undefined) logger[name](line);
    else logger[name](line, redact(fields));
  };
  return { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') };
}
