import { nearest } from '../../src/policy/nearest.ts';

/** Keys of a server, in the shape that clients have. */
export const serverKeys: readonly string[] = [
  'command',
  'args',
  'env',
  'cwd',
  'url',
  'headers',
  'type',
  'disabled',
  'handshakeMs',
];

/** Other words for these that are too far from them to be a misspelling. */
const otherWords: Readonly<Record<string, string>> = {
  cmd: 'command',
  arguments: 'args',
  environment: 'env',
  workingDirectory: 'cwd',
};
/** Keys of other programs, near a key of ours by chance. */
const foreign: ReadonlySet<string> = new Set(['dev']);

/**
 * The keys of servers that look like a misspelling of one that the server lacks, a sentence each. Clients keep keys of their own in such a file, of
 * which nothing is said.
 * @param servers - the value of `mcpServers`.
 */
export function misspeltKeys(servers: unknown): readonly string[] {
  return entriesOf(servers).flatMap(([name, server]) => {
    const own = entriesOf(server).map(([key]) => key);
    const lacking = serverKeys.filter((key) => !own.includes(key));
    return own.flatMap((key) => {
      if (serverKeys.includes(key) || foreign.has(key)) return [];
      const word = Object.hasOwn(otherWords, key) ? otherWords[key] : nearest(key, serverKeys);
      if (word === undefined || !lacking.includes(word)) return [];
      return [`\`mcpServers.${name}.${key}\` is read by nobody; did you mean ${word}?`];
    });
  });
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
}
