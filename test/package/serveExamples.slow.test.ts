import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { parse } from 'ini';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { serveOptions } from '../../cli/serve/command.ts';
import { duration } from '../../src/policy/options/optionKeys.ts';
import { readValue } from '../../src/policy/options/readOptions.ts';
import { everything, main, makeServeHome, type ServeProcess, startServing } from '../cli/startServe.ts';

const read = (name: string): string => readFileSync(new URL(`../../examples/${name}`, import.meta.url), 'utf8');
const ms = (text = ''): number => readValue('', text, duration({ required: true }));
const after = (words: readonly string[], option: string): string => words[words.indexOf(option) + 1] ?? '';

/** How long servers that do not obey take after the drain, in ms. */
const stubbornMs = 5000;

/** Options of the words that `unwedge serve` does not have. */
const unknownIn = (words: readonly string[]): string[] =>
  words.filter((word) => word.startsWith('--') && !Object.hasOwn(serveOptions, word.slice(2)) && word !== '--db');

/** Runs the words of an example in a home of the test's own: on a free port, with what lies elsewhere replaced. */
function run(words: readonly string[], replaced: (word: string) => string): Promise<ServeProcess> {
  const { directory, config } = makeServeHome({ mcpServers: { everything } });
  const place = words.includes('--port') ? words.toSpliced(words.indexOf('--port'), 2, '--listen', ':7420') : words;
  const own = place.map((word) =>
    (word.endsWith('/serve.json') ? config : word.replace(/^.*:7420$/, '127.0.0.1:0'))
      .replace('%S/unwedge', directory)
      .replace(/^\/data/, directory),
  );
  return startServing(process.execPath, own.map(replaced), directory);
}

const isReady = async ({ origin }: ServeProcess): Promise<boolean> => (await fetch(`${origin}/readyz`)).ok;

/** It ends as systemd and container engines take for a success. */
async function endsWell({ child, exited }: ServeProcess): Promise<void> {
  child.kill('SIGTERM');
  expect(await exited).toEqual({ code: 0, signal: null });
}

describe('examples/unwedge-serve.service', () => {
  const unit = parse(read('unwedge-serve.service')) as Readonly<Record<string, Readonly<Record<string, string>>>>;
  const service = unit['Service'] ?? {};
  const words = (service['ExecStart'] ?? '').split(' ');

  it('[E-1] has the sections of a unit, and a command with options that there are', () => {
    expect(Object.keys(unit)).toEqual(['Unit', 'Service', 'Install']);
    expect(words.slice(0, 2)).toEqual(['/usr/local/bin/unwedge', 'serve']);
    expect(unknownIn(words)).toEqual([]);
    expect(service).toMatchObject({ Type: 'exec', Restart: 'always', OOMPolicy: 'continue' });
  });

  it('[E-1] lets the gateway alone end what it runs, and gives it more time for that than it takes', () => {
    expect(service['KillMode']).toBe('mixed');
    expect(ms(service['TimeoutStopSec'])).toBeGreaterThan(ms(after(words, '--drain')) + stubbornMs);
  });

  it('[E-1] writes nowhere but where it may', () => {
    for (const path of [after(words, '--db'), after(words, '--token-file')])
      expect(path.startsWith(`%S/${service['StateDirectory']}/`)).toBe(true);
    expect(service).toMatchObject({ ProtectSystem: 'strict', DynamicUser: 'yes', WorkingDirectory: '%S/unwedge' });
    // Node compiles as it runs.
    expect(service).not.toHaveProperty('MemoryDenyWriteExecute');
  });

  it('[E-1] [I-3] starts, is ready and ends well', async () => {
    const serving = await run(words, (word) => word.replace('/usr/local/bin/unwedge', main));
    await expect.poll(() => isReady(serving)).toBe(true);
    await endsWell(serving);
  });
});

describe('examples/Dockerfile', () => {
  const text = read('Dockerfile');
  const instructions = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => /^([A-Z]+) (\S.*)$/.exec(line)?.slice(1) ?? ['?', line]);
  const argumentsOf = (keyword: string): string | undefined => instructions.find(([word]) => word === keyword)?.[1];
  const wordsOf = (keyword: string): string[] => {
    const given = argumentsOf(keyword) ?? '';
    return JSON.parse(given.slice(given.indexOf('['))) as string[];
  };
  const words = [...wordsOf('ENTRYPOINT'), ...wordsOf('CMD')];

  it('[E-1] is in order, and has options that there are', () => {
    // https://docs.docker.com/reference/dockerfile/ names them; all of ours are of one line.
    const known =
      'ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL RUN SHELL STOPSIGNAL USER VOLUME WORKDIR';
    expect(instructions.map(([word]) => word).filter((word = '') => !known.split(' ').includes(word))).toEqual([]);
    expect(instructions[0]?.[0]).toBe('FROM');
    for (const once of ['CMD', 'ENTRYPOINT', 'HEALTHCHECK', 'USER'])
      expect(instructions.filter(([word]) => word === once)).toHaveLength(1);
    expect(words.slice(0, 4)).toEqual(['tini', '--', 'unwedge', 'serve']);
    expect(unknownIn(words.slice(4))).toEqual([]);
    expect(argumentsOf('RUN')).toContain('install -y --no-install-recommends tini');
  });

  it('[E-1] runs without rights on a Node that it may, and is told to end as it understands, in the time that it has', () => {
    expect(argumentsOf('USER')).toBe('node');
    expect(argumentsOf('FROM')).toBe('node:22-slim');
    expect(argumentsOf('STOPSIGNAL')).toBe('SIGTERM');
    // That of `docker stop`, where nobody says another.
    expect(ms(after(words, '--drain')) + stubbornMs).toBeLessThanOrEqual(10_000);
    expect(after(words, '--listen')).toBe(`0.0.0.0:${argumentsOf('EXPOSE')}`);
    for (const option of ['--db', '--token-file'])
      expect(after(words, option).startsWith(`${argumentsOf('VOLUME')}/`)).toBe(true);
  });

  it('[E-1] [I-3] starts, is healthy, ends well, and is not healthy then', async () => {
    const serving = await run(words.slice(2), (word) => (word === 'unwedge' ? main : word));
    const [program, flag, code = ''] = wordsOf('HEALTHCHECK');
    expect([program, flag]).toEqual(['node', '-e']);
    const health = async (): Promise<number | undefined> => {
      const probe = code.replace('http://127.0.0.1:7420', serving.origin);
      return (await execa(process.execPath, ['-e', probe], { reject: false })).exitCode;
    };
    await expect.poll(health).toBe(0);
    await endsWell(serving);
    expect(await health()).toBe(1);
  });

  it('[E-1] copies what is there', () => {
    const [source = ''] = argumentsOf('COPY')?.split(' ') ?? [];
    expect(JSON.parse(read(source))).toHaveProperty('mcpServers');
    expect(join(argumentsOf('WORKDIR') ?? '', 'token')).toBe(after(words, '--token-file'));
  });
});

describe('examples/compose.yaml', () => {
  const { services, volumes, secrets } = parseYaml(read('compose.yaml'), { merge: true }) as Compose;
  const gateways = ['gateway-1', 'gateway-2'].map((name) => services[name] ?? {});

  it('[N-1] [E-1] has two gateways on one database, which they wait for', () => {
    expect(Object.keys(services)).toEqual(['database', 'gateway-1', 'gateway-2']);
    for (const { command = [], depends_on: waits } of gateways) {
      expect(unknownIn(command)).toEqual([]);
      expect(waits).toEqual({ database: { condition: 'service_healthy' } });
    }
    expect(new Set(gateways.map(({ ports }) => ports?.join())).size).toBe(2);
  });

  it('[N-1] names the database as it is made, and shows its password to no other container', () => {
    const {
      POSTGRES_USER: user,
      POSTGRES_DB: name,
      POSTGRES_PASSWORD: password,
    } = services['database']?.environment ?? {};
    for (const { environment = {} } of gateways) {
      expect(environment['UNWEDGE_DB']).toBe(`postgres://${user}@database/${name}`);
      expect(environment['PGPASSWORD']).toBe(password);
    }
    expect(services['database']?.ports).toBeUndefined();
  });

  it('[N-7] gives a gateway that is told to stop the time that it needs, and what it names is there', () => {
    for (const { command = [], stop_grace_period: grace, secrets: used, build } of gateways) {
      expect(ms(grace)).toBeGreaterThanOrEqual(ms(after(command, '--drain')) + stubbornMs);
      expect(used?.map((secret) => `/run/secrets/${secret}`)).toEqual([after(command, '--token-file')]);
      expect(read('Dockerfile')).toContain(`ARG ${Object.keys(build?.args ?? {}).join()}=`);
    }
    expect([Object.keys(volumes), Object.keys(secrets)]).toEqual([['database'], ['token']]);
  });
});

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
  readonly secrets: object;
}

interface Service {
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly secrets?: readonly string[];
  readonly depends_on?: object;
  readonly stop_grace_period?: string;
  readonly build?: { readonly args?: object };
}
