import { commandHandshakeMs, remoteHandshakeMs } from '../../src/actors/mcp/face.ts';
import type { McpIntegrationOptions, RemoteMcpOptions } from '../../src/integrations/mcp/face.ts';
import type { Served } from '../../web/serve/serveTypes.ts';
import { CommandError } from '../errors.ts';
import { configFile } from '../namedConfig.ts';
import { fieldsIn, type FileServer, misspeltKeys, readServersFile, serverKeys, serversIn } from '../mcp/serversFile.ts';
import { quoted, sanitize } from '../sanitize.ts';
import type { ServeArgs } from './command.ts';

/** Keys that may stand in a JSON file beside a configuration: `unwedge mcp` reads the servers, `unwedge serve` all of it. */
export const servedKeys: readonly string[] = ['mcpServers', 'agents', 'hooks'];

/** Parts that are served, and their file. */
interface WhatIsServed extends Served {
  /** The file that it stands in. */
  readonly file: string;
  /** Keys of the file that nobody reads, a sentence each. */
  readonly warnings: readonly string[];
}

/**
 * The servers, agents and hooks of `--servers`, or of a `--config` or `UNWEDGE_CONFIG` that is JSON.
 * Rejects with {@link CommandError} that says what is wrong, or that nothing is named.
 */
export async function whatIsServed(
  { config, servers: file }: Pick<ServeArgs, 'config' | 'servers'>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<WhatIsServed> {
  const configured = configFile(config, env);
  const own = configured?.endsWith('.json') === true ? configured : undefined;
  const named = file ?? own;
  if (named === undefined) throw nothing('Nothing is named to be served');
  const content = await readServersFile(named);
  const fields = fieldsIn(content);
  if (fields === undefined) throw new CommandError(`Expected ${quoted(named)} to hold an object`);
  const { mcpServers, agents, hooks } = fields;
  const found =
    mcpServers === undefined ? { servers: [], notes: [] } : serversIn(named, content, env, hasMembers(agents));
  const served = {
    servers: serversOf(found.servers),
    agents: (agents ?? {}) as Served['agents'],
    hooks: (hooks ?? {}) as Served['hooks'],
  };
  await refuseWrong(named, { agents, hooks }, env);
  if (Object.keys(served.servers).length + Object.keys(served.agents).length === 0)
    throw nothing(`${quoted(named)} has neither \`mcpServers\` nor \`agents\``);
  return { ...served, file: named, warnings: [...found.notes, ...unread(mcpServers, file === undefined)] };
}

/** An agent alone is enough to be served: then every server may be left out. */
export function hasMembers(agents: unknown): boolean {
  return Object.keys(fieldsIn(agents) ?? {}).length > 0;
}

/** Keys that belong under `policies`: written beside the command they would hold for nothing. */
const policyKeys = ['effect', 'tools', 'reconcile', 'policy', 'retry', 'limits'];

/** @param isOurs - whether the file is for us alone: that of a client may hold what is the client's. */
function unread(servers: unknown, isOurs: boolean): readonly string[] {
  const misspelt = misspeltKeys(servers);
  const others = Object.entries(fieldsIn(servers) ?? {}).flatMap(([name, server]) =>
    Object.keys(fieldsIn(server) ?? {}).flatMap((key) => {
      const what = `\`${sanitize(`mcpServers.${name}.${key}`)}\` is read by nobody`;
      if (policyKeys.includes(key)) return [`${what}: it belongs under \`policies.integrations.${sanitize(name)}\``];
      const isTold = serverKeys.includes(key) || misspelt.some((each) => each.startsWith(`${what};`));
      return isOurs && !isTold ? [what] : [];
    }),
  );
  return [...misspelt, ...others];
}

/** Rejects with {@link CommandError} that says all that is wrong with agents and hooks. */
async function refuseWrong(
  file: string,
  parts: { readonly agents: unknown; readonly hooks: unknown },
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  if (parts.agents === undefined && parts.hooks === undefined) return;
  const [{ judgeServed }, { toldProblem }, { KnownSecrets }, { createTextRedactor }] = await Promise.all([
    import('../../web/serve/judgeServed.ts'),
    import('../../src/config/issues.ts'),
    import('../../src/redaction/knownSecrets.ts'),
    import('../../src/redaction/secrets.ts'),
  ]);
  const redactor = createTextRedactor(new KnownSecrets(env));
  const hide = (text: string): string => redactor.text(text);
  const teller = { source: { from: 'file', file }, name: quoted(file), hide } as const;
  const problems = judgeServed(parts).map((each) => toldProblem(each, teller).message);
  if (problems.length > 0) throw new CommandError(problems.join('; '));
}

const nothing = (what: string): CommandError =>
  new CommandError(
    `${what}: --config FILE.json holds \`mcpServers\` (as clients have it), \`agents\` ({"NAME": {"backend": "claude"}}) and \`hooks\``,
  );

/** Servers of a file, as a gateway takes them. */
export function serversOf(
  servers: readonly FileServer[],
): Readonly<Record<string, McpIntegrationOptions | RemoteMcpOptions>> {
  return Object.fromEntries(
    servers.map(({ name, remote, command = '', args, env, cwd, handshakeMs }) => [
      name,
      remote === undefined
        ? { command, args, env, cwd, handshakeMs: handshakeMs ?? commandHandshakeMs }
        : { ...remote, handshakeMs: handshakeMs ?? remoteHandshakeMs },
    ]),
  );
}
