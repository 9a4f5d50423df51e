// Makes what runs of dist/: each file that is loaded costs as much as 20 kB of code, each package as much as all of ours.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { requiredPackage } from './requiredPackage.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = (path) => join(root, 'src', path);
const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);

/** Stay imports of the library: who uses a package beside us has it once. */
const packages = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }).filter(
  (name) => name !== 'eventemitter3',
);

/** Stay imports of the command line: a native binary that may be missing, and what few commands use. */
const unbundled = packages.filter((name) => !['eventemitter3', 'execa', 'json5', 're2js', 'xstate'].includes(name));

/** A third less to read at each start; names stay, for the stacks of bugs. */
const minify = { compress: true, mangle: false, codegen: { removeWhitespace: true } };

/**
 * The library: its entries share every module, so that an error of one is an `instanceof` of the other, and load their optional
 * parts when they are used.
 * @param {string} tree - where it is written to, paths as in `src/`.
 */
export async function bundleLibrary(tree) {
  const others = ['mcpBoundary/index', 'testing/index', 'testing/faultyMcpProgram'];
  const whole = await loadedBy(packages, source('index.ts'));
  const light = await loadedBy(packages, ...others.map((name) => source(`${name}.ts`)));
  const output = await bundle(
    tree,
    packages.filter((name) => name !== 'xstate'),
    {
      input: Object.fromEntries(['index', ...others].map((name) => [name, source(`${name}.ts`)])),
      chunkFileNames: 'parts/[name]-[hash].js',
      sourcemap: true,
      plugins: [
        {
          name: 'xstate',
          resolveId: {
            order: 'pre',
            handler: (id) => (id === 'xstate' ? { id: '#xstate', external: true } : undefined),
          },
        },
      ],
      // Two files to load, and a third for processes: else there is one for every set of optional parts that has modules in common.
      groups: [
        { name: 'shared', test: (id) => whole.has(id) && light.has(id), priority: 2 },
        { name: 'gateway', test: (id) => whole.has(id), priority: 1 },
        // What the links to processes have in common, loaded with the first of them.
        { name: 'processes', test: (id) => !whole.has(id) && id.startsWith(source('actors')), minShareCount: 2 },
      ],
    },
  );
  writeFileSync(join(tree, 'parts', 'xstate.js'), requiredPackage('xstate', output));
  writeLicenses(join(tree, 'parts'), output);
}

/**
 * The command line, with the packages it needs at every start, and the programs that the demo starts.
 * @param {string} tree - where it is written to, in `cli/`.
 */
export async function bundleCommandLine(tree) {
  const cli = join(tree, 'cli');
  const light = await loadedBy(unbundled, source('cli/hook/hookMain.ts'), source('cli/commandIndex.ts'));
  const run = await loadedBy(
    unbundled,
    ...['cli/commandLine', 'cli/run/command', 'cli/run/runCommand', 'actors/process'].map((name) =>
      source(`${name}.ts`),
    ),
  );
  const programs = ['mcpServer', 'silentChild', 'stubbornChild'];
  const output = await bundle(cli, unbundled, {
    input: {
      main: source('cli/main.ts'),
      ...Object.fromEntries(programs.map((name) => [name, source(`demo/${name}.ts`)])),
    },
    chunkFileNames: '[name]-[hash].js',
    minify,
    // One file to load for a hook, which an agent runs at every tool call, and few for a run.
    groups: [
      { name: 'hook', test: (id) => light.has(id), priority: 2 },
      { name: 'shared', test: (id) => run.has(id), minShareCount: 2, priority: 1 },
    ],
  });
  chmodSync(join(cli, 'main.js'), 0o755);
  await bundleGuard(tree);
  writeLicenses(cli, output);
}

/** What stands guard over children, beside either bundle that starts it: one file, for it is started with the first child. */
async function bundleGuard(tree) {
  for (const place of ['cli', 'parts']) {
    const input = { childGuardProgram: source('childGuardProgram.ts') };
    await bundle(join(tree, place), unbundled, { input, minify, groups: [] });
  }
}

async function bundle(directory, external, { input, groups, plugins, ...options }) {
  const build = await rolldown({
    input,
    plugins,
    platform: 'node',
    external: (id) => isOneOf(id, external),
    logLevel: 'warn',
    treeshake: { moduleSideEffects: [{ external: true, sideEffects: false }] },
    // What is loaded already may be asked for later by others.
    checks: { ineffectiveDynamicImport: false },
  });
  const { output } = await build.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    sourcemapExcludeSources: true,
    comments: { jsdoc: false },
    codeSplitting: { groups },
    ...options,
  });
  await build.close();
  for (const { fileName, code, source: text } of output) {
    const path = join(directory, fileName);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, code ?? text);
  }
  return output;
}

/** The modules that entries load before they do anything: not what they import later. */
async function loadedBy(external, ...entries) {
  const later = { name: 'later', resolveDynamicImport: () => ({ id: 'later', external: true }) };
  const build = await rolldown({
    input: entries,
    platform: 'node',
    external: (id) => isOneOf(id, external),
    plugins: [later],
    logLevel: 'warn',
  });
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  return new Set(output.flatMap(({ moduleIds }) => moduleIds ?? []));
}

const isOneOf = (id, names) => names.some((name) => id === name || id.startsWith(`${name}/`));

/** The licenses of what is bundled ask to be kept with every copy. */
function writeLicenses(directory, output) {
  const modules = output.flatMap(({ moduleIds }) => moduleIds ?? []);
  const bundled = new Set(modules.map(packageOf).filter((path) => path !== undefined));
  const texts = [...bundled]
    .sort((a, b) => a.localeCompare(b))
    .map((path) => {
      const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
      const file = readdirSync(path).find((entry) => /^licen[cs]e/i.test(entry));
      return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(join(path, file), 'utf8').trim()}\n`;
    });
  const intro = 'The files beside this one contain parts of these packages.';
  writeFileSync(join(directory, 'LICENSES.txt'), `${intro}\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`);
}

/** The directory of the package that a module is of; undefined when it is ours. */
function packageOf(module) {
  const at = module.lastIndexOf(`${sep}node_modules${sep}`);
  if (at < 0) return undefined;
  const [scope, name] = module.slice(at + `${sep}node_modules${sep}`.length).split(sep);
  return join(module.slice(0, at), 'node_modules', scope.startsWith('@') ? join(scope, name) : scope);
}
