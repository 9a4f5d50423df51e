import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Directories that are looked into, from that of the file upwards. */
const mostDirectories = 32;
/** A `package.json` that is larger is not looked into, in bytes. */
const largestFile = 1024 * 1024;
/** As npm lets one be: it is shown in tables, and written into commands. */
const usableName = /^(?:@[\w.-]{1,100}\/)?[\w.-]{1,100}$/;

/**
 * The name in the nearest `package.json` that has one, in the directory of the file or above it. Never throws: what cannot be read is
 * none.
 * @param file - relative to the working directory, or absolute.
 */
export function nearestPackage(file: string): string | undefined {
  let directory = dirname(realPath(file));
  for (let count = 0; count < mostDirectories; count++) {
    const name = nameIn(join(directory, 'package.json'));
    if (name !== undefined) return name;
    const above = dirname(directory);
    if (above === directory) return undefined;
    directory = above;
  }
  return undefined;
}

/** Returns the target of a link, as those that a package manager makes for commands. */
function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file);
  }
}

function nameIn(path: string): string | undefined {
  try {
    const stat = statSync(path);
    // Reading a pipe of that name would wait for ever.
    if (!stat.isFile() || stat.size > largestFile) return undefined;
    const { name } = JSON.parse(readFileSync(path, 'utf8')) as { readonly name?: unknown };
    return typeof name === 'string' && usableName.test(name) ? name : undefined;
  } catch {
    return undefined;
  }
}
