import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { childEnvironment } from '../../actors/process/childEnvironment.ts';
import type { SubprocessInput } from '../../machines/subprocessInput.ts';
import type { AgentCommand } from '../../protocol/agentCommand.ts';
import { boundedClaudeRetries, claudeRetriesName, mayRetryItself } from '../../protocol/claudeRetries.ts';
import { profileOf } from '../../protocol/agents/profiles.ts';
import { boundCodexRetries, codexConfigFiles } from '../../protocol/codexRetries.ts';
import type { SubprocessOptions } from './subprocessOptions.ts';

/** Arguments that an agent is to be run with, and whether it repeats failed requests by itself all the same. */
interface BoundedRun {
  readonly args: readonly string[];
  readonly env: SubprocessInput['env'];
  readonly retriesItself: boolean | undefined;
}

/**
 * Keeps one owner of retries: where we may try again, those inside an agent are bounded, but where the user has set them. With a single attempt of ours they
 * are all there is, and stay as they are.
 * @param repeats - whether there may be another attempt of ours, or of the item of a workflow that the run is part of.
 */
export async function boundRetries(
  command: AgentCommand | undefined,
  args: readonly string[],
  options: SubprocessOptions,
  repeats: boolean,
): Promise<BoundedRun> {
  const { env } = options;
  if (command === undefined) return { args, env, retriesItself: undefined };
  const { output, retries } = profileOf(command);
  if (output === 'claude') {
    const set = variable(options, claudeRetriesName);
    const isOurs = set === undefined && repeats;
    const bounded = isOurs ? { ...env, [claudeRetriesName]: boundedClaudeRetries } : env;
    return { args, env: bounded, retriesItself: isOurs || mayRetryItself(set) };
  }
  if (output !== 'codex') {
    const bounds = repeats ? Object.entries(retries?.env ?? {}) : [];
    const added = bounds.filter(([name]) => variable(options, name) === undefined);
    const isOurs = added.length > 0 && added.length === bounds.length;
    return { args, env: { ...env, ...Object.fromEntries(added) }, retriesItself: retries !== undefined && !isOurs };
  }
  if (!repeats) return { args, env, retriesItself: true };
  const run = boundCodexRetries(args, await codexConfigs(args, options));
  return { args: run.args, env, retriesItself: !run.bounded };
}

/** Reads what Codex will read: a file that is not there, or not for us to read, says nothing. */
function codexConfigs(args: readonly string[], options: SubprocessOptions): Promise<readonly string[]> {
  const home = variable(options, 'CODEX_HOME') ?? join(variable(options, 'HOME') ?? homedir(), '.codex');
  return Promise.all(codexConfigFiles(args).map((name) => readFile(join(home, name), 'utf8').catch(() => '')));
}

/** A variable of the environment of the child; undefined when it is not set there. */
function variable({ env = {}, envMode, envAllow }: SubprocessOptions, name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : childEnvironment({ envMode, envAllow }, '')[name];
}
