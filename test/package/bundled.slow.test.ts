import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import { execa } from 'execa';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/temporary.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

interface Bill {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly components: readonly {
    readonly group?: string;
    readonly name: string;
    readonly version: string;
    readonly purl: string;
  }[];
}

const bill = (): Bill => JSON.parse(read('dist/bundled.cdx.json')) as Bill;
const nameOf = ({ group, name }: Bill['components'][number]): string => [group, name].filter(Boolean).join('/');

it('[U-10] a file of CycloneDX names each package that is built in, with its version, as the licenses beside it do', () => {
  const { bomFormat, specVersion, components } = bill();
  expect({ bomFormat, specVersion }).toEqual({ bomFormat: 'CycloneDX', specVersion: '1.6' });
  const licensed = [...read('dist/parts/LICENSES.txt').matchAll(/^(\S+) (\d+\.\S+) \([\w.-]+\)$/gm)];
  expect(components.map((each) => [nameOf(each), each.version])).toEqual(licensed.map(([, ...words]) => words));
  expect(components.map(nameOf)).toEqual(expect.arrayContaining(['execa', 'hono', 'preact', 'uplot']));
  expect(components.map(({ purl }) => purl)).toContain(
    `pkg:npm/%40preact/signals@${components.find((each) => nameOf(each) === '@preact/signals')?.version}`,
  );
});

/** Answers what `npm audit` asks: the packages and versions that are told of, and what is known against one. */
async function startRegistry(known: Readonly<Record<string, unknown>>) {
  const asked: Record<string, readonly string[]> = {};
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(404).end('{}');
    const zipped = request.headers['content-encoding'] === 'gzip';
    void json(zipped ? request.pipe(createGunzip()) : request).then((body) => {
      Object.assign(asked, body);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(known));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
}

const audit = (registry: string) =>
  execa(process.execPath, [fileURLToPath(new URL('scripts/audit.mjs', root))], {
    env: { npm_config_registry: registry, npm_config_cache: temporaryDirectory() },
    reject: false,
  });

it('[U-10] the registry is asked about what is beside the package and about what is built in, and about nothing else', async () => {
  const { asked, url } = await startRegistry({});
  const { exitCode, stdout } = await audit(url);
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: `${Object.values(asked).flat().length} packages were asked about, ${bill().components.length} of them built in`,
  });
  for (const each of bill().components) expect(asked[nameOf(each)]).toContain(each.version);
  for (const name of ['xstate', 'zod', 'execa']) expect(asked).toHaveProperty([name]);
  expect(asked).not.toHaveProperty(['vitest']);
});

it.each([
  ['high', 1],
  ['low', 0],
])('[U-10] what is known against a package that is built in (%s) is told', async (severity, code) => {
  const about = {
    id: 1,
    url: 'https://example.org/1',
    title: 'A page can be',
    severity,
    vulnerable_versions: '*',
    cwe: [],
    cvss: {},
  };
  const { url } = await startRegistry({ preact: [about] });
  const { exitCode, stdout } = await audit(url);
  expect(stdout).toContain(`${severity}: preact: A page can be (https://example.org/1)`);
  expect(exitCode).toBe(code);
});

it('[U-10] a registry that answers nothing is no failure, and is told', async () => {
  const { exitCode, stdout } = await audit('http://127.0.0.1:9/');
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^missing: /);
});
