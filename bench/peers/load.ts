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

/**
 * Loads a package of `bench/package.json`; undefined when it is not installed. Only who wants to compare installs them, and types must
 * check without them: so each is found at run time, and described by a type of our own.
 */
export async function loadPeer<T>(name: string): Promise<T | undefined> {
  const found = findPeer(name);
  return found === undefined ? undefined : ((await import(found)) as T);
}
