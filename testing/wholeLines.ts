import { createLineSplitter } from '../src/protocol/face.ts';

/** Cuts the bytes of a peer into lines, however long. */
export const wholeLines = (onLine: (line: string) => void): ReturnType<typeof createLineSplitter> =>
  createLineSplitter({ maxBytes: 2 ** 30, onLine, onTooLong: () => undefined });
