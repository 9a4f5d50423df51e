import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { agents } from '../../install/agents/agents.ts';
import { agentNames, type ConfigFile } from '../../install/configFile.ts';
import { readDocument } from '../../install/document.ts';
import type { Program } from '../../install/entry.ts';
import { systemFiles } from '../../install/files.ts';
import { findPrograms } from '../../install/programs.ts';
import { DocumentError, scalarIn } from '../../install/tree.ts';
import { type World, projectFolder } from '../../install/world.ts';
import { shellWord } from '../../src/policy/text/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import { installDirectory } from '../../src/store/face.ts';
import { ownLauncher } from '../install/ownLauncher.ts';
import { claudeStanding } from './claudeStanding.ts';
import { codexStanding } from './codexStanding.ts';
import { type Check, type DoctorWorld, type Finding, fail, ok, warning } from './finding.ts';
import { judgeProgram, type Standing, variablesOf } from './judgeProgram.ts';
import type { ConfiguredServer } from './probe.ts';

/** Checks the configurations of agents: that each file can be read as its agent reads it, and that each program in it is there. */
export const checkAgents: Check = async (world) => {
  const findings: Finding[] = [];
  const servers: ConfiguredServer[] = [];
  const remotes: RemoteServer[] = [];
  for (const { file, standing } of clientFiles(world)) {
    const read = readFile(file, world, standing);
    findings.push(...read.findings);
    remotes.push(...read.remotes);
    if (file.scope !== 'project') servers.push(...read.servers);
  }
  findings.push(...(await checkAddresses(remotes, world)));
  if (findings.length === 0) return [ok('agents', 'no client has servers, hooks or agents configured')];
  return world.probe ? [...findings, ...(await (await import('./probe.ts')).probeServers(servers, world))] : findings;
};

/** Returns the world to look at as `install` does. */
function surroundingsOf(world: DoctorWorld): World {
  return {
    files: systemFiles,
    env: world.env,
    home: world.home,
    cwd: world.cwd,
    platform: process.platform,
    uid: world.uid,
    launcher: ownLauncher(world.env),
    stateDirectory: installDirectory(world.env),
    now: () => world.now,
    pause: () => Promise.resolve(),
    signal: world.signal,
  };
}

/** Files of clients that are there, each once, with the rules that hold for it. */
export function clientFiles(world: DoctorWorld) {
  const surroundings = surroundingsOf(world);
  const project = projectFolder(surroundings);
  const found = agentNames.flatMap((name) => agents[name].files(surroundings, project));
  return [...new Map(found.map((file) => [file.path, file])).values()]
    .filter(({ path }) => existsSync(path))
    .map((file) => ({ file, standing: standingOf(file, surroundings, project) }));
}

/**
 * The entries of a file, and what starts each of those that are switched on.
 * @throws {@link DocumentError}, or what the file system reports.
 */
export function readPrograms(file: ConfigFile, world: DoctorWorld, standing: Standing | undefined) {
  const bytes = systemFiles.read(file.path);
  const found = bytes === undefined ? [] : findPrograms(readDocument(bytes, file.format), file);
  const judged = found.flatMap((each) => {
    if (!('program' in each) || !isOn(each.program)) return [];
    const { program, event } = each;
    const entry = { program, event, ...judgeProgram(program, file, world) };
    return [{ ...entry, standing: standing?.of(entry) }];
  });
  return { found, judged };
}

/** The rules that hold for a file; undefined for agents whose rules are not known. */
function standingOf(file: ConfigFile, surroundings: World, project: string): Standing | undefined {
  if (file.agent === 'claude') return claudeStanding(file, surroundings, project);
  return file.agent === 'codex' ? codexStanding(file, surroundings, project) : undefined;
}

interface ReadFile {
  readonly findings: readonly Finding[];
  /** Servers that can be started. */
  readonly servers: readonly ConfiguredServer[];
  /** Servers that have an address. */
  readonly remotes: readonly RemoteServer[];
}

const nothingRead: ReadFile = { findings: [], servers: [], remotes: [] };

function readFile(file: ConfigFile, world: DoctorWorld, standing: Standing | undefined): ReadFile {
  const { title } = agents[file.agent];
  let read: ReturnType<typeof readPrograms>;
  try {
    read = readPrograms(file, world, standing);
  } catch (error) {
    const why = error instanceof DocumentError ? error.message : messageOf(error);
    const summary = `${title} cannot use ${file.path}: ${why}`;
    const fix = `\${EDITOR:-vi} ${shellWord(file.path)}`;
    return { ...nothingRead, findings: [fail('agent.unreadable', summary, fix)] };
  }
  const { found, judged } = read;
  const remotes = found.flatMap((each) =>
    'why' in each && each.url !== undefined ? [{ name: each.name, file: file.path, url: each.url }] : [],
  );
  if (judged.length === 0) return { ...nothingRead, remotes };
  const wrapped = judged.filter(({ own }) => own !== undefined).length;
  const next = wrapped === judged.length ? undefined : `unwedge install ${file.agent} --dry-run`;
  const count = `${judged.length} ${judged.length === 1 ? 'server, hook or agent' : 'servers, hooks and agents'}`;
  const summary = `${title}: ${count} in ${file.path}, ${wrapped} behind unwedge`;
  return {
    findings: [
      { ...ok('agent', summary), next },
      ...judged.flatMap((each) => [each.finding ?? [], each.standing ?? []].flat()),
      ...[standing?.ofFile(judged) ?? []].flat(),
    ],
    // A server that a rule keeps from being started is not started by us.
    servers: judged.flatMap(({ program, own, words, cwd, finding, standing: rule }) => {
      if (program.kind !== 'server' || finding !== undefined || rule !== undefined || words === undefined) return [];
      const about = { agent: title, file: file.path, name: program.name };
      // Without our proxy, which would record what becomes of it and start it again.
      return [{ ...about, words: own?.wraps?.rest ?? words, cwd, env: variablesOf(program) }];
    }),
    remotes,
  };
}

const isOn = ({ table }: Program): boolean =>
  scalarIn(table, 'enabled') !== false && scalarIn(table, 'disabled') !== true;

/** A server that an agent reaches by its address. */
interface RemoteServer {
  readonly name: string;
  readonly file: string;
  readonly url: string;
}

/** On this machine an answer comes at once. In ms. */
const connectMs = 1000;

/** Variables with the address that an agent asks its model at: with a dead one, no turn of it gets an answer. */
const modelAddresses = ['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL'] as const;

/** Addresses of this machine on which nobody listens. Nothing is sent, and no other machine is asked. */
async function checkAddresses(remotes: readonly RemoteServer[], world: DoctorWorld): Promise<readonly Finding[]> {
  const ofVariables = modelAddresses.flatMap((name) => {
    const url = world.env[name];
    return url === undefined ? [] : [{ url, finding: (): Finding => variableFinding(name, url) }];
  });
  const ofServers = remotes.map((remote) => ({ url: remote.url, finding: () => serverFinding(remote) }));
  const found = await Promise.all(
    [...ofVariables, ...ofServers].map(async ({ url, finding }) => ((await isDeserted(url, world)) ? finding() : [])),
  );
  return found.flat();
}

function variableFinding(name: string, url: string): Finding {
  const summary = `${name} is ${url}, where nobody listens: what asks a model there gets no answer`;
  return fail('address.model', summary, `unset ${name}`);
}

function serverFinding({ name, file, url }: RemoteServer): Finding {
  const summary = `${name} of ${file} is at ${url}, where nobody listens: start what serves it, or mend the address`;
  return warning('address.server', summary, `\${EDITOR:-vi} ${shellWord(file)}`);
}

function isDeserted(text: string, { signal }: DoctorWorld): Promise<boolean> {
  const place = loopbackPlace(text);
  if (place === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect({ ...place, timeout: connectMs, signal });
    const settle = (isRefused: boolean): void => {
      socket.destroy();
      resolve(isRefused);
    };
    socket.once('connect', () => settle(false));
    socket.once('timeout', () => settle(false));
    socket.on('error', (error) => settle('code' in error && error.code === 'ECONNREFUSED'));
  });
}

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

function loopbackPlace(text: string): { readonly host: string; readonly port: number } | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !loopback.test(url.hostname)) return undefined;
  const port = url.port === '' ? { 'http:': 80, 'https:': 443 }[url.protocol] : Number(url.port);
  return port === undefined ? undefined : { host: url.hostname.replace(/^\[|\]$/g, ''), port };
}
