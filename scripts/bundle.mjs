// Makes what runs of dist/: each file that is loaded costs as much as 20 kB of code, each package as much as all of ours. The library and
// the command line are one bundle, so that nothing is shipped twice; what each start loads decides which modules share a file.
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { minifySync } from 'rolldown/utils';
import { billOf, packagesOf } from './bundled.mjs';
import { planChunks } from './chunks.mjs';
import { bundleFronts } from './fronts.mjs';
import { withoutFacades, withRuntimeInlined } from './facades.mjs';
import { inlinePage, pageModules } from './inlinePage.mjs';
import { compiledAtOnce, importedParts, requiredPart, withLaterParts } from './laterParts.mjs';
import { leanModule } from './leanModule.mjs';
import { requiredPackage } from './requiredPackage.mjs';
import { statementLines } from './statementLines.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = (path) => join(root, `${path}.ts`);
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** Stay imports: who uses one of them beside us has it once, or it is large or native, and few need it. All other packages are built in. */
const packages = Object.keys({
  ...manifest.dependencies,
  ...manifest.optionalDependencies,
  ...manifest.peerDependencies,
});

/** Builds in what is a package to all others. */
const ownCopy = 'cli/run/execaCopy';

/** A third less to install and to read at each start; functions keep their names, for the stacks of bugs. */
const minified = { module: true, compress: true, mangle: { keepNames: true }, codegen: { removeWhitespace: true } };

/** What is started by its path, beside the parts that start it. */
const programs = {
  childGuardProgram: 'src/runtime/childGuardProgram',
  demoMcpServer: 'testing/demo/mcpServer',
  silentChild: 'testing/demo/silentChild',
  stubbornChild: 'testing/demo/stubbornChild',
};

/** What is loaded at a start, and how much it matters that it is fast: an agent runs a hook at every tool call. */
const starts = [
  ['spinning', 4, 'cli/hook/spinningGuard'],
  ['mcp', 4, 'cli/mcp/startServerAhead'],
  ['run', 4, 'cli/run/command', 'cli/run/runCommand', ownCopy, 'src/actors/process/process'],
  // The library, once a gateway is started; and with its first child.
  [
    'started',
    1,
    'src/index',
    'src/control/server',
    'src/control/staleSockets',
    'src/store/openStore',
    'src/actors/prompt/promptFile',
    'src/actors/process/orphans',
  ],
  ['processes', 1, 'src/index', 'src/actors/process/process', 'src/integrations/subprocess/agentRuns'],
  ['guard', 0.5, programs.childGuardProgram],
];
/** What the import of the library leaves for the first call of a function of these: it makes a gateway, or a supervisor. */
const madeLater = [
  'src/gateway/gateway',
  ...['shutdown', 'start', 'supervision', 'supervisor', 'supervisorOptions', 'tree', 'treeText'].map(
    (name) => `src/supervisor/${name}`,
  ),
];
/** What is called where something has failed, and until then is passed over. */
const whenFailed = /\/src\/policy\/failures\/[^/]*$/;
/** The entries of the library, by their places in `dist/`: each stands in the source where its types are. */
const entries = Object.fromEntries(
  Object.values(manifest.exports).flatMap(({ default: file, types }) =>
    file === undefined
      ? []
      : [[file.replace(/^\.\/dist\/|\.js$/g, ''), types.replace(/^\.\/dist\/types\/|\.d\.ts$/g, '')]],
  ),
);
/** Of those that are loaded by themselves; the others are loaded beside the first. */
const aloneWeights = { 'src/index': 4, 'proxy/boundary/index': 3, 'testing/index': 0.25, 'transcript/index': 0.25 };

const input = {
  ...Object.fromEntries(Object.entries(entries).map(([place, path]) => [place, source(path)])),
  'testing/faultyMcpProgram': source('testing/faultyMcpProgram'),
  'testing/faultyAcpProgram': source('testing/acp/faultyAcpProgram'),
  ...Object.fromEntries(Object.entries(programs).map(([name, path]) => [`parts/${name}`, source(path)])),
};

/**
 * The library and the command line. The entries share every module, so that an error of one is an `instanceof` of the other; optional parts
 * are loaded when they are used.
 * @param {string} tree - where it is written to, paths as in `dist/`.
 * @returns which modules stand in which file.
 */
export async function bundlePackage(tree) {
  const fronts = await bundleFronts((id) => isOneOf(id, packages));
  for (const [name, path] of Object.entries(fronts.asked)) input[name] = source(path);
  const { chunks, atOnce } = await plan();
  const bundled = withoutFacades(
    await generate({
      chunkFileNames: 'parts/[name]-[hash].js',
      codeSplitting: {
        groups: [{ debugName: 'starts', name: (id) => chunks.get(id) ?? null, includeDependenciesRecursively: false }],
      },
    }),
  );
  const namesOf = (isOne) => bundled.filter(isOne).map(({ fileName }) => fileName);
  const isNamed =
    (...names) =>
    ({ fileName }) =>
      names.some((name) => fileName.startsWith(`parts/${name}-`));
  const required = namesOf(isNamed('gateway', 'core', 'failures'));
  const output = withLaterParts(withRuntimeInlined(bundled), {
    atOnce: new Set(
      namesOf(({ fileName, moduleIds = [] }) => fileName === 'index.js' || moduleIds.some((id) => atOnce.has(id))),
    ),
    asked: new Set(required.filter((name) => !isNamed('failures')({ fileName: name }))),
    called: new Set(namesOf(isNamed('failures'))),
  });
  for (const { fileName, code } of output) {
    const path = join(tree, fileName);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(
      path,
      minify(fileName, code, (text) => leanModule(compiledAtOnce(text))),
    );
  }
  mkdirSync(join(tree, 'cli'));
  writeFileSync(join(tree, 'cli', 'package.json'), '{ "type": "commonjs" }\n');
  for (const { fileName, code } of fronts.output)
    writeFileSync(
      join(tree, fileName),
      minify(fileName, code, (text) => text),
    );
  chmodSync(join(tree, 'cli', 'main.js'), 0o755);
  writeFileSync(join(tree, 'parts', 'xstate.js'), requiredPackage('xstate', bundled) + requiredPart);
  writeFileSync(join(tree, 'parts', 'later.js'), importedParts(required));
  // As one package after the other: an import of it has 48 files open at once, and a process may have 64.
  writeFileSync(join(tree, 'parts', 'execa.js'), requiredPackage('execa', [], ['execa']));
  const built = packagesOf([...output.flatMap(({ moduleIds }) => moduleIds ?? []), ...pageModules]);
  writeLicenses(join(tree, 'parts'), built);
  writeFileSync(join(tree, 'bundled.cdx.json'), `${JSON.stringify(billOf(built, manifest))}\n`);
  return output.map(({ fileName, moduleIds }) => ({ fileName, moduleIds }));
}

function minify(fileName, code, lean) {
  const own = fileName.startsWith('cli/') ? { module: false, mangle: { ...minified.mangle, toplevel: true } } : {};
  const { code: text, errors } = minifySync(fileName, code, { ...minified, ...own });
  if (errors.length > 0) throw new Error(`${fileName}: ${errors[0].message}`);
  return statementLines(lean(text));
}

/** Which file each module is to be in that is loaded at a start. */
async function plan() {
  const output = await generate({ preserveModules: true, preserveModulesRoot: root });
  const chunks = new Map(
    output.map(({ fileName, code = '', imports = [] }) => [fileName, { bytes: code.length, imports }]),
  );
  const files = new Map(
    output.flatMap(({ fileName, moduleIds = [], facadeModuleId }) =>
      [...moduleIds, facadeModuleId].map((id) => [id, fileName]),
    ),
  );
  const loadedBy = (paths) => {
    const loaded = new Set(paths.map((path) => files.get(source(path)) ?? missing(path)));
    for (const file of loaded) for (const next of chunks.get(file).imports) if (chunks.has(next)) loaded.add(next);
    return loaded;
  };
  const library = loadedBy(['src/index']);
  const alone = (names) =>
    new Set(starts.filter(([name]) => names.includes(name)).flatMap(([, , ...paths]) => [...loadedBy(paths)]));
  const others = new Set([
    ...alone(['spinning', 'mcp', 'guard']),
    ...Object.keys(aloneWeights).flatMap((path) => (path === 'src/index' ? [] : [...loadedBy([path])])),
  ]);
  const isLater = new Set(
    madeLater.map((path) => files.get(source(path)) ?? missing(path)).filter((file) => !others.has(file)),
  );
  const atOnce = new Set([files.get(source('src/index')), ...[...library].filter((file) => others.has(file))]);
  for (const file of atOnce)
    for (const next of chunks.get(file).imports) if (chunks.has(next) && !isLater.has(next)) atOnce.add(next);
  const idsOf = new Map([...files].map(([id, file]) => [file, id]));
  const run = alone(['run']);
  // What is made later shares no file with what is not.
  const apart = new Map(
    [...library].flatMap((file) => {
      if (!atOnce.has(file)) return [[file, run.has(file) ? 'core' : 'gateway']];
      return whenFailed.test(idsOf.get(file)) && !others.has(file) ? [[file, 'failures']] : [];
    }),
  );
  const start = (name, weight, ids, about) => ({
    name,
    weight,
    ids: new Set([...ids].filter((id) => !apart.has(id))),
    ...about,
  });
  const planned = planChunks(chunks, [
    start('library', aloneWeights['src/index'], atOnce, { main: true }),
    ...Object.values(entries)
      .filter((path) => path !== 'src/index')
      .map((path) =>
        start(
          dirname(path).split('/').at(-1),
          aloneWeights[path] ?? 0.7,
          loadedBy(path in aloneWeights ? [path] : ['src/index', path]),
          { room: dirname(path) },
        ),
      ),
    ...starts.map(([name, weight, ...paths]) => start(name, weight, loadedBy(paths))),
  ]);
  for (const [file, name] of apart) planned.set(file, name);
  // Entries stay where they are asked for, and the parts of a start are loaded one by one: a broken one is not to break the others.
  for (const id of Object.values(input)) planned.delete(files.get(id));
  const [store, drivers] = ['src/store/openStore', 'reader/describeDriver'].map((path) => loadedBy([path]));
  const isStore = (file) => store.has(file) && !drivers.has(file);
  for (const [file, name] of planned) {
    if (name !== 'started') continue;
    if (isStore(file)) planned.set(file, 'store');
    else planned.delete(file);
  }
  const ids = [...files];
  return {
    chunks: new Map(ids.map(([id, file]) => [id, planned.get(file)])),
    atOnce: new Set(ids.flatMap(([id, file]) => (atOnce.has(file) && !apart.has(file) ? [id] : []))),
  };
}

function missing(path) {
  throw new Error(`There is no module ${path}.ts, which scripts/bundle.mjs names`);
}

async function generate(options) {
  const build = await rolldown({
    input,
    platform: 'node',
    external: (id) => id !== 'xstate' && id !== 'execa' && isOneOf(id, packages),
    plugins: [
      inlinePage(),
      {
        name: 'required',
        resolveId: {
          order: 'pre',
          handler: (id, importer) =>
            id === 'xstate' || (id === 'execa' && importer !== source(ownCopy))
              ? { id: `#${id}`, external: true }
              : undefined,
        },
      },
      {
        // What is CommonJS needs the bundler's runtime, which would be one more file at each start.
        name: 'eventemitter3',
        transform: {
          filter: { id: /eventemitter3[\\/]index\.js$/ },
          handler: (code) => `const module = {};\n${code}\nexport default module.exports;`,
        },
      },
    ],
    resolve: { mainFields: ['module', 'main'] },
    logLevel: 'warn',
    // It would put namespaces of modules into files that all starts load, and the bundler's runtime beside them.
    experimental: { chunkOptimization: false },
    preserveEntrySignatures: 'allow-extension',
    treeshake: { moduleSideEffects: [{ external: true, sideEffects: false }] },
    // What is loaded already may be asked for later by others.
    checks: { ineffectiveDynamicImport: false, pluginTimings: false },
  });
  const { output } = await build.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    comments: { jsdoc: false },
    ...options,
  });
  await build.close();
  return output;
}

const isOneOf = (id, names) => names.some((name) => id === name || id.startsWith(`${name}/`));

/** The licenses of what is bundled ask to be kept with every copy. */
function writeLicenses(directory, folders) {
  const texts = folders.map((path) => {
    const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
    const file = readdirSync(path).find((entry) => /^licen[cs]e/i.test(entry));
    return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(join(path, file), 'utf8').trim()}\n`;
  });
  const intro = 'The files beside this one contain parts of these packages.';
  writeFileSync(join(directory, 'LICENSES.txt'), `${intro}\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`);
}
