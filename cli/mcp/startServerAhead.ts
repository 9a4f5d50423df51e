import { fstatSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { allowedEnvironment, startAhead } from '../../src/actors/mcp/face.ts';
import { spawnObstacle } from '../../src/actors/process/face.ts';
import { systemClock } from '../../src/runtime/face.ts';
import { storePath } from '../../src/store/face.ts';
import { mayHaveOrphans } from '../../reader/unopened.ts';
import { parseWords, splitCommand } from '../parse.ts';
import { acpOptions } from '../acp/options.ts';
import { mcpOptions } from './options.ts';

/** Options that say that there is no one server of a command, or not now. */
const others: ReadonlySet<string> = new Set(['url', 'servers', 'listen', 'sign-in', 'json', 'check']);

/**
 * Starts the server that `unwedge mcp` is given as a command, or the agent of `unwedge acp`, while the program that stands before it loads. Left to that
 * program: what is no plain command line, what was left behind by a proxy that died and has to be ended first, and a start without a client. Never throws.
 */
export function startServerAhead(verb: 'mcp' | 'acp', words: readonly string[]): void {
  try {
    // The young heap would grow to 48 MB by the lines that pass, and keep that: 91 MB after 100,000 updates, 69 with it, as fast (Node 20.20). At 64 calls at a
    // time what they hold is moved at each turn of it: 7.5 us a call with 1 MB, 4.2 with 2, 2.6 with 4. Threads that help cost more than they take over.
    setFlagsFromString(`--semi-space-growth-factor=${verb === 'mcp' ? 3 : 1}`);
    setFlagsFromString('--no-parallel-scavenge');
    const options = verb === 'mcp' ? mcpOptions : acpOptions;
    const { own, rest } = splitCommand({ options, takesCommand: 'bare' }, words);
    const parsed = verb === 'mcp' ? parseWords(mcpOptions, own, '') : parseWords(acpOptions, own, '');
    if (parsed.help || process.platform === 'win32' || !mayHaveClient()) return;
    const { args } = parsed;
    const [command, ...commandArgs] = rest;
    if (
      command === undefined ||
      command === '' ||
      Object.entries(args).some(([name, value]) => others.has(name) && isGiven(value))
    )
      return;
    // An agent that is known may be given words of its own.
    if (verb === 'acp' && commandArgs.length === 0) return;
    if (hasConfig(args) || mayHaveOrphans(storePath(args.db, process.env))) return;
    const envAllow = args['env-allow'];
    const server = {
      command,
      args: commandArgs,
      ...allowedEnvironment(envAllow.length === 0 ? undefined : envAllow),
    };
    if (spawnObstacle({ ...server, env: process.env }) === undefined) startAhead(server, systemClock);
  } catch {
    // The fault is told by the command itself.
  }
}

const isGiven = (value: unknown): boolean => value !== undefined && value !== false;

/** A configuration may name another store, and a module of one may change the environment. */
function hasConfig({ config }: { readonly config: string | undefined }): boolean {
  return config !== undefined || Boolean(process.env['UNWEDGE_CONFIG']?.trim());
}

/** Tells whether a client can write to stdin: it is no terminal, and not /dev/null. */
function mayHaveClient(): boolean {
  return !fstatSync(0).isCharacterDevice();
}
