import { readdirSync, readFileSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, it } from 'vitest';
import { bundlePackage } from '../../scripts/bundle.mjs';
import { temporaryDirectory } from '../support/temporary.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const manifest = JSON.parse(read('package.json')) as Readonly<Record<string, Record<string, string>>>;

interface Packed {
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

let packed: Packed;
let paths: readonly string[];
beforeAll(async () => {
  const { stdout } = await execa('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--offline'], {
    cwd: root,
  });
  [packed] = JSON.parse(stdout) as [Packed];
  paths = packed.files.map(({ path }) => path);
});

/** Bytes of a package's own files. */
const weightOf = (folder: string): number =>
  readdirSync(new URL(folder, root), { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .map(({ parentPath, name }) => posix.join(parentPath, name))
    .filter((path) => !path.slice(path.indexOf(folder) + folder.length).includes('/node_modules/'))
    .reduce((sum, path) => sum + statSync(path).size, 0);

describe('what a user installs', () => {
  it('[U-10] is a package of at most 1.38 MB, in which its three pictures have 0.07 before they are packed', () => {
    expect(packed.size).toBeLessThanOrEqual(1_380_000);
    expect(weightOf('docs/pictures')).toBeLessThanOrEqual(70_000);
  });

  it('[U-10] weighs 30 MB with its packages, without optional ones, and the design says how much', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as {
      readonly packages: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    };
    const notInstalled = ['dev', 'optional', 'devOptional', 'peer'];
    const folders = Object.entries(packages)
      .filter(([path, about]) => path !== '' && !notInstalled.some((mark) => about[mark] === true))
      .map(([path]) => path);
    const bytes = folders.map(weightOf).reduce((sum, weight) => sum + weight, packed.unpackedSize);
    expect(Math.round(bytes / 1_000_000)).toBeLessThanOrEqual(30);
    expect(read('docs/design.md')).toContain(` packages and ${(bytes / 1_000_000).toFixed(1)} MB with ours`);
  });

  it('[U-10] names no home before there is a public one', () => {
    for (const field of ['repository', 'homepage', 'bugs']) expect(manifest).not.toHaveProperty(field);
  });
});

describe('the package', () => {
  it('[U-10] has each module in one file, and none that is installed beside it', async () => {
    const files = await bundlePackage(temporaryDirectory());
    const modules = files.flatMap(({ moduleIds }) => moduleIds);
    expect(modules.length).toBeGreaterThan(400);
    // What the command line starts with is of CommonJS, and of files of its own.
    expect(modules.filter((id, index) => modules.indexOf(id) !== index)).toEqual([]);
    expect(paths.filter((path) => /^dist\/cli\/.*\.js$/.test(path)).length).toBeLessThanOrEqual(6);
    const installed = Object.keys({ ...manifest['dependencies'], ...manifest['optionalDependencies'] });
    // The one copy beside its package: `unwedge run` is started often.
    expect(installed.filter((name) => modules.some((id) => id.includes(`/node_modules/${name}/`)))).toEqual(['execa']);
    const own = files.filter(({ moduleIds }) => moduleIds.some((id) => id.includes('/node_modules/execa/')));
    expect(own.map(({ fileName }) => fileName)).toEqual([expect.stringMatching(/^parts\/run-/)]);
    const built = files.map(({ fileName }) => `dist/${fileName}`).filter((name) => !name.includes('/parts/'));
    // Parts are named by what they hold; all else that runs is of this one bundle.
    expect(paths.filter((path) => /^dist\/(?!parts\/|cli\/).*\.js$/.test(path)).sort()).toEqual(built.sort());
    const parts = paths.filter(
      (path) => /^dist\/parts\/.*\.js$/.test(path) && !/parts\/(?:execa|later|xstate)\.js$/.test(path),
    );
    expect(parts).toHaveLength(files.length - built.length);
  });

  it('[U-10] has no source maps, which would be of use with the sources only', () => {
    expect(paths.filter((path) => path.endsWith('.map'))).toEqual([]);
    const code = paths.filter((path) => path.endsWith('.js'));
    expect(code.filter((path) => /^\/\/# sourceMappingURL=/m.test(read(path)))).toEqual([]);
  });

  it('[U-10] has no types that no entry leads to', () => {
    const reached = new Set(
      Object.values(manifest['exports'] ?? {}).flatMap((entry: unknown) => {
        const { types } = entry as { types?: string };
        return types === undefined ? [] : [types.slice(2)];
      }),
    );
    for (const path of reached) {
      for (const [, from = ''] of read(path).matchAll(/\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)\.[tj]s['"]/g)) {
        reached.add(posix.join(posix.dirname(path), `${from}.d.ts`));
      }
    }
    expect(paths.filter((path) => path.endsWith('.d.ts')).sort()).toEqual([...reached].sort());
  });
});

/** What a page links to within the package; whether a heading is there, the test of links says. */
function linksOf(page: string): string[] {
  const text = prose(page);
  return [...text.matchAll(/\]\(([^)\s]+)[^)]*\)|^\[[^\]]+\]:\s*(\S+)/gm)]
    .map(([, inline, reference]) => (inline ?? reference ?? '').replace(/#.*/, ''))
    .filter((link) => link !== '' && !/^[a-z]+:/.test(link))
    .map((link) => posix.join(posix.dirname(page), link));
}

/** A page without its code. */
const prose = (page: string): string =>
  read(page)
    .replace(/^```[\s\S]*?^```/gm, '')
    .replaceAll(/`[^`\n]*`/g, '');

describe('the pages', () => {
  it('[U-10] that are shipped link to nothing that is not', () => {
    const pages = paths.filter((path) => path.endsWith('.md'));
    expect(pages).toContain('README.md');
    const broken = pages.flatMap((page) =>
      linksOf(page)
        .filter((link) => !paths.includes(link))
        .map((link) => `${page}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('[U-10] for users are all shipped', () => {
    expect(paths).toContain('docs/grafana-dashboard.json');
    const ours = ['call-path', 'design', 'deviations', 'performance', 'requirements'].map((name) => `docs/${name}.md`);
    const docs = readdirSync(new URL('docs', root), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.includes('.'))
      .map((name) => `docs/${name}`);
    expect(docs.filter((page) => !ours.includes(page) && !paths.includes(page))).toEqual([]);
  });
});
