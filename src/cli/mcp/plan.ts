import { parseDuration } from '../../policy/duration.ts';
import { whenAliveChoices } from '../../policy/policies.ts';
import { serverName } from './serverName.ts';
import type { McpProxyOptions } from '../../mcpProxy/settings.ts';
import { unknownValue, UsageError } from '../errors.ts';
import { quoted } from '../sanitize.ts';
import { nearestPackage } from './nearestPackage.ts';
import type { McpArgs } from './options.ts';
import { messageOf } from '../../policy/thrown.ts';

const modes = ['safe', 'always', 'never'] as const;

/**
 * Makes the options of a proxy from its command line.
 * @throws {@link UsageError} that names what is wrong.
 */
export function planMcp(args: McpArgs, rest: readonly string[]): McpProxyOptions {
  const [command, ...words] = rest;
  if (command === undefined) {
    throw new UsageError('No command given; write it after --, as in `unwedge mcp -- npx -y @acme/server`');
  }
  if (command === '') throw new UsageError('Expected a command after --, got ""');
  if (args.json) throw new UsageError('Option --json is of no use here: stdout is the client’s');
  const retry = args.retry === undefined ? undefined : modes.find((mode) => mode === args.retry);
  if (args.retry !== undefined && retry === undefined) throw unknownValue('--retry', args.retry, modes);
  const whenAlive = whenAliveChoices.find((choice) => choice === args['when-alive']);
  if (args['when-alive'] !== undefined && whenAlive === undefined) {
    throw unknownValue('--when-alive', args['when-alive'], whenAliveChoices);
  }
  const envAllow = args['env-allow'];
  return {
    name: args.name ?? serverName(command, words, { cwd: process.cwd(), packageOf: nearestPackage }),
    command,
    args: words,
    idleMs: aboveZero('--idle-timeout', args['idle-timeout']),
    whenAlive,
    overallMs: aboveZero('--call-timeout', args['call-timeout']),
    handshakeMs: aboveZero('--start-timeout', args['start-timeout']),
    toolMs: Object.fromEntries(args['tool-timeout'].map(toolLimit)),
    retry,
    envAllow: envAllow.length === 0 ? undefined : envAllow,
  };
}

/** `TOOL=DURATION`; the name of a tool may hold a `=` itself. */
function toolLimit(text: string): [tool: string, ms: number] {
  const at = text.lastIndexOf('=');
  if (at <= 0) throw new UsageError(`Expected \`--tool-timeout\` to be TOOL=DURATION, got ${quoted(text)}`);
  try {
    const ms = parseDuration('--tool-timeout', text.slice(at + 1));
    return [text.slice(0, at), aboveZero('--tool-timeout', ms) ?? ms];
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(messageOf(error));
  }
}

function aboveZero(option: string, ms: number | undefined): number | undefined {
  if (ms === 0) throw new UsageError(`Expected \`${option}\` to be above 0`);
  return ms;
}
