import type { Logger, LogLevel } from '../text/logger.ts';
import { either, having, off } from './optionKeys.ts';
import { readValue } from './readOptions.ts';

/** A logger of the host: `console`, pino's, OpenClaw's, or anything with these methods. `debug` may be missing. */
export type HostLogger = Omit<Logger, 'debug'> & Partial<Pick<Logger, 'debug'>>;

/** Parts that a logger of the host has to have. */
export const loggerKey = either<HostLogger | false>(
  [off, having('a logger or false', ['info', 'warn', 'error'], { optional: ['debug'] })],
  (value) => (value === false ? 0 : 1),
  'a logger or false',
);

/**
 * The logger of a host as the runtime calls it; undefined where nothing is to be logged.
 * @throws TypeError when `given` is neither a logger nor `false`.
 */
export function checkLogger(given: HostLogger | false | undefined): Logger | undefined {
  const logger = readValue('logger', given, loggerKey);
  return logger === undefined || logger === false ? undefined : hostLogger(logger);
}

/** The same for one that was checked. */
export function hostLogger(given: HostLogger): Logger {
  const line = lineOf(given);
  return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
}

type Line = (level: LogLevel) => (message: string, fields?: object) => void;

/** Called on the host's object, each time anew: hosts change levels and methods while they run. */
function lineOf(given: HostLogger): Line {
  if (takesFieldsFirst(given)) {
    const log = given as Record<LogLevel, (fields: object | string, message?: string) => void>;
    return (level) => (message, fields) =>
      fields === undefined ? log[level]?.(message) : log[level]?.(fields, message);
  }
  const isConsole = hasMethod(given, 'table') && hasMethod(given, 'dir');
  return (level) => (message, fields) => {
    // The words of an event say it all; a console would print its fields over several lines.
    if (fields === undefined || (isConsole && 'event' in fields)) given[level]?.(message);
    else given[level]?.(message, fields);
  };
}

/** As pino (`bindings`) and bunyan (`addStream`) do. */
function takesFieldsFirst(given: HostLogger): boolean {
  return hasMethod(given, 'bindings') || hasMethod(given, 'addStream');
}

function hasMethod(given: HostLogger, name: string): boolean {
  return typeof Reflect.get(given, name) === 'function';
}
