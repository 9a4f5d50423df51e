import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { inlinePage } from '../../scripts/inlinePage.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * A module of the source that no entry of the package gives, for programs that Node runs as they are.
 * @param {string} path - from the root, such as `src/actors/process/processTable.ts`.
 */
export async function importSource(path) {
  const build = await rolldown({ input: `${root}${path}`, platform: 'node', external: /^[^./]/, logLevel: 'warn' });
  const { output } = await build.generate({ format: 'esm', codeSplitting: false });
  await build.close();
  const [{ code }] = output;
  const directory = `${root}.build/modules`;
  const file = `${directory}/${createHash('sha256').update(code).digest('hex')}.mjs`;
  mkdirSync(directory, { recursive: true });
  // Others may be reading the same.
  writeFileSync(`${file}.${process.pid}`, code);
  renameSync(`${file}.${process.pid}`, file);
  return import(file);
}

/** What a module says of its own place stays true when it is bundled. */
export const ownPlace = {
  name: 'own-place',
  transform: (code, id) =>
    code.includes('import.meta.url')
      ? code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
      : null,
};

/**
 * Builds a program of `test/` that Node runs as it is, with all of the source that it uses.
 * @param {string} path - within `test/`, such as `cluster/clusterNode.ts`.
 * @param {{ readonly isWhole?: boolean }} options - `isWhole`: with the packages that it uses, so that it starts sooner.
 * @returns {Promise<string>} the file to run or to import.
 */
export async function buildProgram(path, { isWhole = false } = {}) {
  const build = await rolldown({
    input: { main: `${root}test/${path}` },
    platform: 'node',
    ...(!isWhole && { external: /^[^./]/ }),
    logLevel: 'warn',
    plugins: [inlinePage(), ownPlace],
  });
  const dir = `${root}.build/programs/${process.pid}/${path.replaceAll(/[^a-z]+/gi, '-')}`;
  await build.write({ format: 'esm', dir, minify: isWhole });
  await build.close();
  return `${dir}/main.js`;
}
