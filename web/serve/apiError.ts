import type { StoreReader } from '../../reader/storeReader.ts';

/** An answer that is no success, with its status and one sentence for people. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: 400 | 401 | 404 | 405 | 409 | 410 | 413 | 422 | 429 | 503;
  /** After which time it may be tried again, in s. */
  readonly retryAfter: number | undefined;

  constructor(status: ApiError['status'], message: string, retryAfter?: number) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

export const unreadable = (): ApiError => new ApiError(503, 'The database that keeps the session is out of reach.', 5);

/** Says that a session is another gateway's, and which one has it where the store knows. Never rejects. */
export async function heldElsewhere(
  session: string,
  read: <T>(work: (reader: StoreReader) => Promise<T>) => Promise<T>,
): Promise<ApiError> {
  const owner = (await read((reader) => reader.session(session)).catch(() => undefined))?.owner;
  if (owner === undefined) return new ApiError(409, 'Another process has the session.', 10);
  const { name, host, pid } = owner;
  return new ApiError(409, `Another gateway has the session: ${name} on ${host} (pid ${pid}).`, 1);
}
