// The pages of the source that run in a browser are source files of their own. `x.css?text` is such a file as a string, `x.ts?script` what it and
// all it imports are as one plain script; in such a script `x?charts` are the statecharts of src/machines.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { machineCharts } from './machineCharts.mjs';

/** To lay out the machines takes its time. */
const checks = { pluginTimings: false };

const marks = { text: '\0page-text:', script: '\0page-script:' };

/** The modules of the scripts that were made, as the bundler names its own. */
export const pageModules = new Set();

/** For the bundler and for vitest alike. */
export function inlinePage() {
  return {
    name: 'inline-page',
    resolveId: {
      order: 'pre',
      handler(id, importer) {
        const [, path, kind] = /^(\.[^?]+)\?(text|script)$/.exec(id) ?? [];
        // As a module of JavaScript, whatever the file is.
        return path === undefined ? undefined : `${marks[kind]}${join(dirname(importer), path)}.js`;
      },
    },
    async load(id) {
      for (const [kind, mark] of Object.entries(marks)) {
        if (!id.startsWith(mark)) continue;
        const file = id.slice(mark.length, -'.js'.length);
        const source = kind === 'text' ? textOf(file) : await scriptOf(file);
        return { code: `export const ${kind} = ${JSON.stringify(source)};`, moduleType: 'js' };
      }
      return undefined;
    },
  };
}

/** Of a style without the lines that make it legible. */
function textOf(file) {
  const text = readFileSync(file, 'utf8');
  return file.endsWith('.css') ? text.replaceAll(/\s*\n\s*/g, ' ').trim() : text;
}

/** In strict mode and with names of its own, whatever else is on the page. */
async function scriptOf(file) {
  const build = await rolldown({
    input: file,
    platform: 'browser',
    logLevel: 'warn',
    plugins: [machineCharts()],
    checks,
  });
  const { output } = await build.generate({ format: 'iife', minify: true });
  await build.close();
  for (const id of output[0].moduleIds) pageModules.add(id);
  return output[0].code.trim();
}
