import { read, readString } from '../policy/failures/errorChain.ts';

/** The error in the JSON of an event: its own `error`, that of its `response`, or all of it where it has none. */
export function errorIn(said: unknown): unknown {
  return read(read(said, 'response'), 'error') ?? read(said, 'error') ?? said;
}

/**
 * Error that an API tells in the body of an answer, or in an event of a stream.
 * @param error - what tells of it: an object with a message, a code, a type, or text.
 */
export function toldError(error: unknown) {
  const status = statusOf(error);
  return {
    /** The HTTP status that it names in place of a code of its own: `429`, `"429"`. */
    status,
    code: readString(error, 'code') ?? status,
    /** Its kind by name; Google's name of it stands beside a number. */
    type: readString(error, 'type') ?? readString(error, 'status'),
    message: typeof error === 'string' ? error : (readString(error, 'message') ?? readString(error, 'detail')),
    details: read(error, 'details') ?? undefined,
  };
}

/** The HTTP status that an error has for a code, as a number or as its text. */
export function statusOf(error: unknown): number | undefined {
  const told = statusNames.map((name) => Number(read(error, name) ?? Number.NaN));
  return told.find((status) => Number.isInteger(status) && status >= 400 && status <= 599);
}

const statusNames = ['code', 'status', 'status_code', 'statusCode', 'http_status'] as const;
