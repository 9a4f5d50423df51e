// The documentation as a site, in site/dist: `npm run docs`. Its pages are those of docs/, README and examples as they stand, the statecharts are
// drawn from the machines that run, and the reference of the API is made of the types that are shipped.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { layOutMachines } from './machineCharts.mjs';
import { publicNames, uncovered } from './referenceCoverage.mjs';
import { pageOf, titleOf } from './sitePage.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const site = join(root, 'site');
const pages = join(site, 'pages');
const referenceFile = join(pages, 'reference.json');

/** Pages by what they are for, each group in the order in which it is read. */
const groups = [
  ['Begin', ['README.md', 'docs/install.md', 'docs/embedding.md', 'docs/serve.md']],
  ['Guides', guides()],
  [
    'In depth',
    [
      'streams',
      'http-apis',
      'remote-mcp',
      'mcp-proxy',
      'model-api',
      'agents-in-tests',
      'never-twice',
      'supervision',
      'observability',
      'security',
      'scale',
      'reliability',
    ].map(inDocs),
  ],
  [
    'Reference',
    ['configuration', 'failure-modes', 'agents-under-fire', 'machines', 'compatibility', 'compared'].map(inDocs),
  ],
  ['For contributors', ['design', 'call-path', 'deviations', 'performance', 'requirements'].map(inDocs)],
];

function inDocs(name) {
  return `docs/${name}.md`;
}

/** Their list, and then each in the order in which it leads to them. */
function guides() {
  const list = 'docs/guides/README.md';
  const names = [...readFileSync(join(root, list), 'utf8').matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, name]) => name);
  return [list, ...new Set(names.map((name) => `docs/guides/${name}`))];
}

function run(what, program, words, cwd = root) {
  const { status } = spawnSync(program, words, { cwd, stdio: 'inherit' });
  if (status === 0) return;
  console.error(`docs: ${what} failed`);
  process.exit(1);
}

const inSite = (name, binary) => join(site, 'node_modules', name, binary);

async function stage() {
  rmSync(pages, { recursive: true, force: true });
  mkdirSync(pages, { recursive: true });
  const isShown = (path) => path === 'README.md' || path.startsWith('docs/') || path.startsWith('examples/');
  const contents = groups.map(([text, paths]) => ({
    text,
    items: paths.filter((path) => existsSync(join(root, path))).map((path) => stagePage(path, isShown)),
  }));
  cpSync(join(root, 'examples'), join(pages, 'public/examples'), { recursive: true });
  cpSync(join(root, 'docs/pictures'), join(pages, 'public/pictures'), { recursive: true });
  writeFileSync(join(pages, 'charts.json'), JSON.stringify(await layOutMachines()));
  writeFileSync(
    join(pages, 'contents.json'),
    JSON.stringify({ groups: contents.filter(({ items }) => items.length > 0) }),
  );
}

function stagePage(path, isShown) {
  const text = readFileSync(join(root, path), 'utf8');
  const target = path === 'README.md' ? 'index.md' : path;
  mkdirSync(dirname(join(pages, target)), { recursive: true });
  writeFileSync(join(pages, target), pageOf(text, path, { isShown, exists: (each) => existsSync(join(root, each)) }));
  return {
    text: titleOf(text),
    link: path === 'README.md' ? '/' : `/${posix.join(dirname(path), posix.basename(path, '.md'))}`,
  };
}

/** The entries of the package, by the name under which they are imported. */
function entries() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [join(root, types)]));
}

/** Ends the command when the reference lacks a public name, or a description of one. */
function checkReference() {
  const reference = JSON.parse(readFileSync(referenceFile, 'utf8'));
  const made = readdirSync(join(pages, 'api'), { recursive: true, encoding: 'utf8' });
  const lacking = uncovered(
    publicNames(),
    reference,
    made.map((path) => path.split(sep).join(posix.sep)),
  );
  if (lacking.length === 0) return;
  console.error(`docs: the reference lacks\n${lacking.join('\n')}`);
  process.exit(1);
}

if (!existsSync(join(root, 'dist/types/src/index.d.ts'))) run('the build', 'npm', ['run', '--silent', 'build']);
if (!existsSync(inSite('vitepress', 'package.json')))
  run('the installation', 'npm', ['ci', '--prefix', site, '--ignore-scripts', '--no-audit', '--no-fund']);
await stage();
const words = ['--logLevel', 'Error', '--json', referenceFile, ...entries()];
run('the reference', process.execPath, [inSite('typedoc', 'bin/typedoc'), ...words], site);
checkReference();
run('the site', process.execPath, [inSite('vitepress', 'bin/vitepress.js'), 'build', site], site);
console.log('docs: site/dist');
