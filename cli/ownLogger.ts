import type { Logger } from '../src/policy/text/face.ts';

/**
 * Creates a logger that says on stderr the warnings and errors of a command's runtime, one line each. A store that is out of order is one line, told when
 * that is found; its last words, how many events it could not keep, are left out then.
 * @param options - `info`: of a service also what has become well again.
 */
export function createOwnLogger(say: (line: string) => void, { info = false } = {}): Logger {
  let saidDegraded = false;
  const tell = (line: string): void => {
    if (saidDegraded && line.startsWith('The store closed with ')) return;
    saidDegraded ||= line.startsWith('The store is degraded');
    say(line);
  };
  return { debug: ignore, info: info ? tell : ignore, warn: tell, error: tell };
}

function ignore(): void {}
