import type { StoreReader } from '../../src/store/storeReader.ts';
import { ApiError } from './apiError.ts';

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
