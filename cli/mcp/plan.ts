import { readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { McpProxyOptions } from '../../proxy/mcp/settings.ts';
import { programFlaw } from '../../src/policy/text/face.ts';
import { whenAliveChoices } from '../../src/policy/face.ts';
import { taskChoices } from '../../src/protocol/mcp/face.ts';
import { spinningChoices } from '../../src/policy/spinning/face.ts';
import type { Environment } from '../../src/store/face.ts';
import { aboveZero, durationWord } from '../parse.ts';
import { UsageError, valueAmong } from '../errors.ts';
import { quoted } from '../sanitize.ts';
import type { McpArgs } from './options.ts';
import { planRemote, remoteName, remoteOnly } from './remotePlan.ts';
import { serverName } from './serverName.ts';

const modes = ['safe', 'always', 'never'] as const;

/**
 * Makes the options of a proxy from its command line.
 * @throws {@link UsageError} that names what is wrong.
 */
export function planMcp(args: McpArgs, rest: readonly string[], env: Environment): McpProxyOptions {
  return { ...planLimits(args), ...planServer(args, rest, env) };
}

/**
 * Reads the limits for every server from the command line.
 * @throws {@link UsageError} that names what is wrong.
 */
export function planLimits(args: McpArgs): Omit<McpProxyOptions, 'name' | 'command' | 'args' | 'remote' | 'envAllow'> {
  if (args.json) throw new UsageError('Option --json is of no use here: stdout is the client’s');
  const retry = valueAmong('--retry', args.retry, modes);
  const whenAlive = valueAmong('--when-alive', args['when-alive'], whenAliveChoices);
  for (const option of ['spinning', 'keep', 'max-result'] as const)
    if (args.shared && (args[option] ?? 'off') !== 'off')
      throw new UsageError(`Option --${option} is of no use with --shared: its clients are not told apart`);
  return {
    keepMs: keepOf(args.keep),
    maxResult: bytesOf(args['max-result']),
    spinning: valueAmong('--spinning', args.spinning, spinningChoices),
    idleMs: aboveZero('--idle-timeout', args['idle-timeout']),
    whenAlive,
    tasks: valueAmong('--tasks', args.tasks, taskChoices),
    overallMs: aboveZero('--call-timeout', args['call-timeout']),
    handshakeMs: aboveZero('--start-timeout', args['start-timeout']),
    ...(args.allow.length > 0 && { allow: args.allow }),
    ...(args.deny.length > 0 && { deny: args.deny }),
    ...(args.pin && { pin: true }),
    toolMs: Object.fromEntries(args['tool-timeout'].map(toolLimit)),
    retry,
  };
}

/** `off`, or a duration above 0. */
function keepOf(word: string | undefined): number | undefined {
  if (word === 'off') return 0;
  return word === undefined ? undefined : aboveZero('--keep', durationWord('--keep', word));
}

/** A size such as `100kB`, of 1 kB or more. */
function bytesOf(word: string | undefined): number | undefined {
  if (word === undefined) return undefined;
  const [, count = '', unit = 'kB'] = /^(\d{1,9})(kB|MB)$/i.exec(word) ?? [];
  if (Number(count) > 0) return Number(count) * (unit.startsWith('M') ? 1_000_000 : 1000);
  throw new UsageError(`Expected \`--max-result\` to be a size such as 100kB or 1MB, got ${quoted(word)}`);
}

/** A command, or a server elsewhere. */
function planServer(
  args: McpArgs,
  [command, ...words]: readonly string[],
  env: Environment,
): Pick<McpProxyOptions, 'name' | 'command' | 'args' | 'remote' | 'envAllow'> {
  const envAllow = args['env-allow'];
  if (args.url !== undefined) {
    if (command !== undefined) throw new UsageError('Expected a command or `--url`, got both');
    if (envAllow.length > 0) throw new UsageError('Option --env-allow is of no use with --url');
    const remote = planRemote(args, args.url, env);
    return { name: args.name ?? remoteName(args.url), remote };
  }
  for (const option of remoteOnly) {
    const given = args[option];
    const isGiven = Array.isArray(given) ? given.length > 0 : given !== undefined && given !== false;
    if (isGiven) throw new UsageError(`Option --${option} is for --url`);
  }
  if (command === undefined) {
    throw new UsageError(
      'No command given; write it after --, as in `unwedge mcp -- npx -y @acme/server`, or give a --url',
    );
  }
  if (command === '') throw new UsageError('Expected a command after --, got ""');
  const flaw = programFlaw(command, 'the command after --');
  if (flaw !== undefined) throw new UsageError(flaw);
  return {
    name: args.name ?? serverName(command, words, { cwd: process.cwd(), packageOf: nearestPackage }),
    command,
    args: words,
    envAllow: envAllow.length === 0 ? undefined : envAllow,
  };
}

/** `TOOL=DURATION`; the name of a tool may hold a `=` itself. */
function toolLimit(text: string): [tool: string, ms: number] {
  const at = text.lastIndexOf('=');
  if (at <= 0) throw new UsageError(`Expected \`--tool-timeout\` to be TOOL=DURATION, got ${quoted(text)}`);
  const ms = durationWord('--tool-timeout', text.slice(at + 1));
  return [text.slice(0, at), aboveZero('--tool-timeout', ms) ?? ms];
}

/** Directories that are looked into, from that of the file upwards. */
const mostDirectories = 32;
/** A `package.json` that is larger is not looked into, in bytes. */
const largestFile = 1024 * 1024;
/** As npm lets one be: it is shown in tables, and written into commands. */
const usableName = /^(?:@[\w.-]{1,100}\/)?[\w.-]{1,100}$/;

/**
 * The name in the nearest `package.json` that has one, in the directory of the file or above it. Never throws: what cannot be read is
 * none.
 * @param file - relative to the working directory, or absolute.
 */
export function nearestPackage(file: string): string | undefined {
  let directory = dirname(realPath(file));
  for (let count = 0; count < mostDirectories; count++) {
    const name = nameIn(join(directory, 'package.json'));
    if (name !== undefined) return name;
    const above = dirname(directory);
    if (above === directory) return undefined;
    directory = above;
  }
  return undefined;
}

/** Returns the target of a link, as those that a package manager makes for commands. */
function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return resolve(file);
  }
}

function nameIn(path: string): string | undefined {
  try {
    const stat = statSync(path);
    // Reading a pipe of that name would wait for ever.
    if (!stat.isFile() || stat.size > largestFile) return undefined;
    const { name } = JSON.parse(readFileSync(path, 'utf8')) as { readonly name?: unknown };
    return typeof name === 'string' && usableName.test(name) ? name : undefined;
  } catch {
    return undefined;
  }
}
