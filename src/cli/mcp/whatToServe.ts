import { UsageError } from '../errors.ts';
import { configFile } from '../namedConfig.ts';
import type { McpArgs } from './options.ts';
import { planLimits, planMcp } from './plan.ts';
import { misspeltKeys } from './serverKeys.ts';
import { fieldsIn, readServersFile, serversIn } from './serversFile.ts';
import type { Served } from './serving.ts';

/** Servers that are named in a title; the others are counted. */
const mostNamed = 5;

/**
 * The server that is given as a command, or those of a file: that of `--servers`, of which only `mcpServers` is read, or the one of `--config` or `UNWEDGE_CONFIG`
 * where no command is given, which may hold our own configuration beside them.
 * Rejects with {@link UsageError} or CommandError that says what is wrong.
 */
export async function whatToServe(
  args: McpArgs,
  env: Readonly<Record<string, string | undefined>>,
  rest: readonly string[],
): Promise<Served> {
  const { url } = args;
  const config = configFile(args.config, env);
  const alone = rest.length === 0 && url === undefined;
  const file = args.servers ?? (alone && config?.endsWith('.json') === true ? config : undefined);
  if (file === undefined) {
    const options = planMcp(args, rest, env);
    return { name: options.name, title: options.name, servers: [options], isHub: false };
  }
  if (!alone)
    throw new UsageError(`Expected ${url === undefined ? 'a command' : '`--url`'} or \`--servers\`, got both`);
  const content = await readServersFile(file);
  const envAllow = args['env-allow'].length === 0 ? undefined : args['env-allow'];
  const limits = { ...planLimits(args), envAllow, isOneOfSeveral: true };
  const found = serversIn(file, content, env);
  const servers = found.servers.map((server) => ({ ...limits, ...server }));
  const title = args.name ?? titleOf(servers.map(({ name }) => name));
  const hints = [...found.notes, ...misspeltKeys(fieldsIn(content)?.['mcpServers'])];
  const besides = args.servers === undefined ? ['mcpServers'] : undefined;
  return { name: args.name ?? 'unwedge', title, servers, isHub: true, besides, hints };
}

function titleOf(names: readonly string[]): string {
  const more = names.length - mostNamed;
  return `${names.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
