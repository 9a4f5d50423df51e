import { presetOf } from '../../agents/conversation/agentTypes.ts';
import { agents } from '../../install/agents/agents.ts';
import { numberIn } from '../../install/tree.ts';
import { SignInFile } from '../../src/actors/mcp/http/auth/face.ts';
import { type PoliciesOptions, checkPolicies } from '../../src/policy/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import { systemClock } from '../../src/runtime/face.ts';
import { signInDirectory } from '../../src/store/face.ts';
import { acpOptions } from '../acp/options.ts';
import type { Args, OptionSpecs } from '../command.ts';
import { clientFiles, readPrograms } from '../doctor/agents.ts';
import type { DoctorWorld } from '../doctor/finding.ts';
import { variablesOf } from '../doctor/judgeProgram.ts';
import { command as hook } from '../hook/command.ts';
import type { Io } from '../io.ts';
import { mcpOptions } from '../mcp/options.ts';
import { configFile, wholeConfig } from '../namedConfig.ts';
import { parseWords } from '../parse.ts';
import { servedKeys, whatIsServed } from '../serve/whatIsServed.ts';
import type { Target } from './rows.ts';

type Asked = { readonly config?: string | undefined; readonly project: boolean; readonly clients: readonly string[] };

/** Reads all that clients, or the configuration, have; `tell` hears what could not be read. */
export async function readTargets(asked: Asked, world: DoctorWorld, io: Io, tell: (problem: string) => void) {
  const named = configFile(asked.config, io.env);
  const isAsked = (client: string): boolean => asked.clients.length === 0 || asked.clients.includes(client);
  const targets: Target[] = named === undefined ? [] : await servedTargets(named, world, io);
  // A configuration that is named is meant alone.
  for (const { file, standing } of asked.config === undefined ? clientFiles(world) : []) {
    if (!isAsked(file.agent) || (file.scope === 'project' && !asked.project)) continue;
    const agent = agents[file.agent];
    const { title: owner, hooks } = agent;
    const common = { owner, client: file.agent, file: file.path, cwd: world.cwd, env: {}, reads: [] };
    try {
      const { found, judged } = readPrograms(file, world, standing);
      for (const each of found)
        if ('why' in each && each.url !== undefined) targets.push({ ...common, ...each, kind: 'server', words: [] });
      for (const { program, event = '', own, words = [], cwd, standing: rule } of judged) {
        const { kind, name, table, isShell, command } = program;
        const isOurs = own !== undefined && own.wraps === undefined;
        const [verb = '', ...options] = words.slice(own?.launcherWords ?? 0);
        // What a rule keeps from being started is not started; a command of ours before nothing, as the guard, is not drilled.
        if (rule !== undefined || (isOurs && !options.includes('--url'))) continue;
        const front = isOurs ? { verb, options } : own?.wraps;
        const seconds = numberIn(table, 'timeout');
        const hookMs = seconds === undefined ? hooks?.defaultMs(event) : seconds * 1000;
        const clientMs = kind === 'hook' ? hookMs : kind === 'server' ? agent.callLimitMs?.(program) : undefined;
        const guards = kind === 'hook' && hooks?.blocks(program) ? true : undefined;
        const whole = isShell && kind === 'hook' ? ['/bin/sh', '-c', command.value] : words;
        const base = { ...common, kind, name, cwd, event, front, clientMs, guards, env: variablesOf(program) };
        targets.push({ ...base, words: isOurs ? [] : (own?.wraps?.rest ?? whole), ...(await saidBy(base, io)) });
      }
    } catch (error) {
      tell(`${owner} cannot use ${file.path}: ${messageOf(error)}`);
    }
  }
  return targets;
}

/** Reads the options of the command of ours. @throws {@link UsageError} that says what is wrong with them. */
async function saidBy({ name, front, policies: copied }: Partial<Target>, io: Io): Promise<Partial<Target>> {
  const { verb, options = [] } = front ?? {};
  if (verb === 'acp') return { limitMs: read(acpOptions, options)['tool-timeout'] ?? 3_600_000 };
  if (verb === 'hook') {
    const { 'host-timeout': limitMs, 'on-failure': onFailure } = read(hook.options, options);
    return { limitMs, ...(onFailure !== undefined && { guards: onFailure === 'block' }) };
  }
  if (verb !== 'mcp') return {};
  const { config, url, name: recorded = name ?? '', 'call-timeout': callMs } = read(mcpOptions, options);
  const policies = checkPolicies(copied ?? (await policiesOf(config, io)));
  const tools = policies.toolsOf(recorded, undefined);
  // A pattern may have exceptions: what it fits is not called.
  const names = [...tools.entries()].map(([tool]) => tool).filter((tool) => !tool.includes('*'));
  const reads = names.filter((tool) => tools.get(tool)?.effect === 'readOnly');
  const isRead = tools.size === 0 && policies.effectOf(recorded, undefined) === 'readOnly';
  const { tokens } = url === undefined ? {} : new SignInFile(signInDirectory(io.env), url, systemClock).read();
  const signInEnds = tokens?.refresh === undefined ? tokens?.expiresAt : undefined;
  const limitMs = callMs ?? policies.policyOf(recorded, undefined, 'mcp').limits.attemptMs;
  return { url, limitMs, reads: isRead ? 'all' : reads, signInEnds };
}

function read<O extends OptionSpecs>(specs: O, words: readonly string[]): Partial<Args<O>> {
  const parsed = parseWords(specs, words, '');
  return parsed.help ? {} : parsed.args;
}

async function policiesOf(config: string | undefined, io: Io): Promise<PoliciesOptions> {
  return config === undefined ? {} : ((await wholeConfig(config, io, servedKeys)).policies ?? {});
}

/** Lists what `unwedge serve` would serve. */
async function servedTargets(config: string, { cwd: here }: DoctorWorld, io: Io): Promise<Target[]> {
  const { servers, agents: served, hooks, file } = await whatIsServed({ config, servers: undefined }, io.env);
  const policies = await policiesOf(config, io);
  const targets: Target[] = [];
  type Own = Pick<Target, 'kind' | 'name' | 'words'> & Partial<Target>;
  const add = async (own: Own, verb: string, ...more: readonly string[]): Promise<void> => {
    const options = verb === 'hook' ? more : ['--name', own.name, ...more];
    const base = { owner: 'unwedge', file, policies, cwd: here, env: {}, reads: [], ...own, front: { verb, options } };
    targets.push({ ...base, ...(await saidBy(base, io)), ...(own.limitMs !== undefined && { limitMs: own.limitMs }) });
  };
  for (const [name, server] of Object.entries(servers)) {
    const { command = '', args = [], cwd = here, env = {} } = 'command' in server ? server : {};
    if (!('url' in server)) await add({ kind: 'server', name, words: [command, ...args], cwd, env }, 'mcp');
    // Headers may be secrets, which no command line shows: such a server is not asked.
    else if (Object.keys(server.headers ?? {}).length === 0)
      await add({ kind: 'server', name, words: [] }, 'mcp', '--url', server.url);
  }
  for (const [event, list] of Object.entries(hooks))
    for (const { name = event, command, args = [], onFailure } of list) {
      const said = onFailure === undefined ? [] : ['--on-failure', onFailure === 'block' ? 'block' : 'allow'];
      await add({ kind: 'hook', name, event, words: [command, ...args] }, 'hook', ...said);
    }
  for (const [name, { backend = 'acp', acp, claude, codex, policy }] of Object.entries(served)) {
    const { attemptMs, overallMs } = checkPolicies(policies).policyOf(name, policy, presetOf(backend)).limits;
    const limitMs = Math.min(attemptMs, overallMs);
    const program = claude?.command ?? codex?.command;
    const told = ['--backend', backend, ...(program === undefined ? [] : ['--command', program])];
    const agent = { kind: 'agent' as const, name, limitMs };
    if (acp !== undefined) await add({ ...agent, words: [acp.command, ...(acp.args ?? [])] }, 'acp');
    else await add({ ...agent, words: [program ?? backend] }, 'agent', ...told);
  }
  return targets;
}
