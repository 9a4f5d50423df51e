import { closeSync, existsSync, openSync, rmSync } from 'node:fs';

/**
 * A file beside the database. It exists while a hook's circuit is open or has failures on record, so that a run of a sound hook does
 * not open the database in vain. The database is the truth.
 *
 * A failure writes its row first and then the marker. A success removes the marker first and then the row. So a row with failures always
 * has its marker, however the two meet.
 * @param database - its absolute path.
 * @param kind - of what the name is: hooks and runs of the same name do not share a circuit.
 */
export function hookMarker(database: string, name: string, kind: 'hook' | 'run' | 'spinning' = 'hook') {
  const path = `${database}-${kind}-${fileName(name)}`;
  return {
    isThere: (): boolean => existsSync(path),
    /** Never throws: without a marker failures are forgotten, no more. */
    // Exclusively: a link that somebody put there is not followed.
    leave: () => quietly(() => closeSync(openSync(path, 'wx', 0o600))),
    remove: () => quietly(() => rmSync(path, { force: true })),
  };
}

const longestName = 100;

/** The name as one that every file system takes, different for different names. */
function fileName(name: string): string {
  const safe = encodeURIComponent(name).replaceAll('*', '%2A');
  return safe.length <= longestName ? safe : `${safe.slice(0, longestName)}-${hash(safe).toString(36)}`;
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value >>> 0;
}

function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // A directory that cannot be written to has no database either.
  }
}
