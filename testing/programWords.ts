import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Linux starts no program with a longer argument than 128 KB. */
const mostScriptBytes = 100_000;

/**
 * Command and arguments of a faulty program with its script. The program stands beside the entry; this module may be built into a file elsewhere.
 * @throws RangeError for a script that is too long for an argument.
 */
export function programWords(program: string, script: object): { command: string; args: string[] } {
  const words = JSON.stringify(script);
  const size = Buffer.byteLength(words);
  if (size > mostScriptBytes) {
    throw new RangeError(`Expected the options to take at most ${mostScriptBytes} bytes as JSON, got ${size}`);
  }
  const paths = [`./${program}.js`, `../testing/${program}.js`].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return { command: process.execPath, args: [paths.find((path) => existsSync(path)) ?? String(paths[0]), words] };
}
