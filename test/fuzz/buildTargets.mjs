import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { inlinePage } from '../../scripts/inlinePage.mjs';
import { ownPlace } from '../support/sourceModule.mjs';
import { instrument } from './instrument.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Builds the targets over the instrumented source. @returns the program that runs one, and their names. */
export async function buildTargets() {
  const { plugin, count } = instrument(
    (id) => id.startsWith(root) && !id.startsWith(`${root}test/`) && !id.includes('node_modules'),
  );
  const build = await rolldown({
    input: { main: `${root}test/fuzz/main.ts` },
    platform: 'node',
    // Those of the bundler's own begin with NUL.
    external: /^[^./\0]/,
    logLevel: 'silent',
    plugins: [inlinePage(), ownPlace, plugin],
  });
  const dir = `${root}.build/programs/${process.pid}/fuzz`;
  // Read when the program begins, before any module of the source.
  const banner = () => `globalThis.fuzzCounters ??= new Uint32Array(${count() + 1}); globalThis.fuzzWords ??= [];`;
  await build.write({ format: 'esm', dir, banner, sourcemap: true });
  await build.close();
  const names = [...readFileSync(`${root}test/fuzz/targets/index.ts`, 'utf8').matchAll(/^ {2}'?([\w-]+)'?: /gm)].map(
    ([, name]) => name,
  );
  return { program: `${dir}/main.js`, names };
}
