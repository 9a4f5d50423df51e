import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../../', import.meta.url));

/**
 * A module of `src/` that no entry of the package gives, for programs that Node runs as they are.
 * @param {string} path - within `src/`, such as `actors/processTable.ts`.
 */
export async function importSource(path) {
  const build = await rolldown({ input: `${root}src/${path}`, platform: 'node', external: /^[^./]/, logLevel: 'warn' });
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
