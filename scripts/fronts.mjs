// Makes what the command line loads before it knows what it needs: files of CommonJS, of which one or two are read at a start. On Node 20 the first ES module
// of a process takes 0.2 of the time that Node takes to start, and each file that is required 0.02.
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Modules that are asked for as the program runs, and stand in a file of CommonJS of their own; all others are parts of the library's bundle. */
const fronts = ['cli/commandLine', 'cli/hook/hookMain', 'cli/version'].map((path) => join(root, `${path}.ts`));

/** Functions of tables of options, which no front reads. */
const makersOfKeys =
  'boolean byName callback choice duration either having integer list more number orOff section test text'.split(' ');

/**
 * @param {(id: string) => boolean} external - packages that stay imports.
 * @returns the files of `dist/cli`, and what they ask for of the other bundle: paths of modules by the names of their entries there.
 */
export async function bundleFronts(external) {
  const asked = new Map();
  const build = await rolldown({
    input: { main: join(root, 'cli/main.ts') },
    platform: 'node',
    external,
    treeshake: { moduleSideEffects: false, manualPureFunctions: makersOfKeys },
    plugins: [
      {
        name: 'asked',
        resolveDynamicImport(path, importer) {
          if (typeof path !== 'string' || !path.startsWith('.')) return undefined;
          const id = resolve(dirname(importer), path);
          if (fronts.includes(id)) return id;
          const place = relative(root, id).replace(/\.ts$/, '');
          const name = `parts/${place.replaceAll('/', '-')}`;
          asked.set(name, place);
          return { id: `../${name}.js`, external: true };
        },
      },
    ],
  });
  const { output } = await build.generate({
    format: 'cjs',
    entryFileNames: 'cli/[name].js',
    chunkFileNames: 'cli/[name].js',
    comments: { jsdoc: false },
  });
  await build.close();
  const isAsked = ([name]) => output.some(({ code = '' }) => code.includes(`"../${name}.js"`));
  const late = output.map((file) => ({ ...file, code: withLateModules(file.code) }));
  return { output: late, asked: Object.fromEntries([...asked].filter(isAsked)) };
}

/**
 * The same, with each module of Node's loaded where it is first used, and not when the file is: most starts use few of them.
 * @param {string} code - as the bundler writes it.
 */
export function withLateModules(code) {
  const modules = [...code.matchAll(/^let (node_\w+) = require\("(node:[^"]+)"\);$/gm)];
  return modules.reduce(
    (text, [line, name, path]) =>
      text
        .replace(line, `let ${name};`)
        .replaceAll(new RegExp(`\\b${name}\\.`, 'g'), `(${name} ??= process.getBuiltinModule("${path}")).`),
    code,
  );
}
