// Bundles the command line in a built tree: one import of xstate or execa costs more than all the rest of a short run.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { rolldown } from 'rolldown';

/** Stay imports: a native binary that may be missing, and what only the tour uses. */
const externalPackages = ['better-sqlite3', 'ws', '@modelcontextprotocol/sdk', 'zod'];

/** A third less to read at each start; names stay, for the stacks of bugs. */
const minify = { compress: true, mangle: false, codegen: { removeWhitespace: true } };

/**
 * Replaces `cli/` of the tree by `cli/main.js` and its chunks. The demo stays as it is compiled: it starts programs that lie
 * beside it.
 * @param {string} tree - what the compiler made of `src/`.
 */
export async function bundleCommandLine(tree) {
  const cli = join(tree, 'cli');
  const demo = join(tree, 'demo') + sep;
  const build = await rolldown({
    input: { main: join(cli, 'main.js') },
    platform: 'node',
    external: (id, _importer, isResolved) =>
      isResolved ? id.startsWith(demo) : externalPackages.some((name) => isOf(id, name)),
    makeAbsoluteExternalsRelative: true,
    logLevel: 'warn',
    // The hook's command is there already when the others ask for it.
    checks: { ineffectiveDynamicImport: false },
  });
  const light = await loadedBy(join(cli, 'hook', 'hookMain.js'), join(cli, 'commandIndex.js'));
  const run = await loadedBy(
    ...['commandLine.js', 'run/command.js', 'run/runCommand.js'].map((file) => join(cli, file)),
  );
  const { output } = await build.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    minify,
    // One file to load for a hook, which an agent runs at every tool call, and few for a run: each costs as much as 20 kB of code.
    codeSplitting: {
      groups: [
        { name: 'hook', test: (id) => light.has(id), priority: 2 },
        { name: 'shared', test: (id) => run.has(id), minShareCount: 2, priority: 1 },
      ],
    },
  });
  await build.close();
  rmSync(cli, { recursive: true });
  mkdirSync(cli);
  for (const { fileName, code } of output) writeFileSync(join(cli, fileName), code);
  writeFileSync(join(cli, 'LICENSES.txt'), licenses(output.flatMap(({ modules }) => Object.keys(modules))));
}

/** The modules that entries load before they do anything: not what they import later. */
async function loadedBy(...entries) {
  const later = { name: 'later', resolveDynamicImport: () => ({ id: 'later', external: true }) };
  const build = await rolldown({ input: entries, platform: 'node', plugins: [later], logLevel: 'warn' });
  const { output } = await build.generate({ format: 'esm' });
  await build.close();
  return new Set(output.flatMap(({ modules }) => Object.keys(modules)));
}

const isOf = (id, name) => id === name || id.startsWith(`${name}/`);

/** The licenses of what is bundled ask to be kept with every copy. */
function licenses(modules) {
  const packages = new Set(modules.map(packageOf).filter((path) => path !== undefined));
  const texts = [...packages]
    .sort((a, b) => a.localeCompare(b))
    .map((path) => {
      const { name, version, license } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
      const file = readdirSync(path).find((entry) => /^licen[cs]e/i.test(entry));
      return `${name} ${version} (${license})\n\n${file === undefined ? '' : readFileSync(join(path, file), 'utf8').trim()}\n`;
    });
  return `The files beside this one contain parts of these packages.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`;
}

/** The directory of the package that a module is of; undefined when it is ours. */
function packageOf(module) {
  const at = module.lastIndexOf(`${sep}node_modules${sep}`);
  if (at < 0) return undefined;
  const [scope, name] = module.slice(at + `${sep}node_modules${sep}`.length).split(sep);
  return join(module.slice(0, at), 'node_modules', scope.startsWith('@') ? join(scope, name) : scope);
}
