import { createProxyRuntime, type ProxyRuntime } from '../proxyRuntime.ts';
import type { ProxyVoice } from '../../proxy/mcp/proxyScope.ts';
import { createTrafficLog, type TrafficLog } from '../../proxy/mcp/trafficLog.ts';
import type { Logger } from '../../src/policy/logger.ts';
import type { Policies } from '../../src/policy/policies.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import { databasePath } from '../databasePath.ts';
import { createTextRedactor } from '../../src/redaction/secrets.ts';
import type { Io } from '../io.ts';
import { namedConfig } from '../namedConfig.ts';
import { createOwnLogger } from '../ownLogger.ts';
import { sanitize } from '../sanitize.ts';
import type { McpArgs } from './options.ts';

/** Bytes that our stderr may hold unread; output of the server beyond is left out. */
const mostUnreadErrors = 1024 * 1024;

/** Base that every way of serving begins with. */
export interface PreparedMcp extends ProxyRuntime {
  readonly storePath: string;
  readonly voice: ProxyVoice;
  readonly logger: Logger;
  readonly log: TrafficLog | undefined;
}

/** The servers that are to be served, and the keys under which they stand in the configuration. */
interface Configured {
  readonly servers: readonly { readonly name: string }[];
  readonly besides?: readonly string[] | undefined;
  readonly hints?: readonly string[] | undefined;
}

/** @throws what {@link namedConfig} throws. */
export async function prepareMcp(
  args: McpArgs,
  io: Io,
  { servers, besides, hints = [] }: Configured,
): Promise<PreparedMcp> {
  // Many a client closes what it does not want to read; it still wants its server.
  io.leaveErrors?.();
  const say = (line: string): void => void process.stderr.write(`unwedge: ${sanitize(line)}\n`);
  const logger = createOwnLogger(say);
  const config = await namedConfig(args.config, io, besides);
  const path = databasePath(args.db ?? config.store, io.env);
  const prepared = createProxyRuntime({ ...config, store: { path, required: false }, logger });
  for (const hint of hints) say(hint);
  const { policies } = prepared.registry.runtime;
  for (const line of unconfigured(
    policies,
    servers.map(({ name }) => name),
  ))
    say(line);
  const redactor = createTextRedactor(prepared.checked.secrets);
  const log = args.log === undefined ? undefined : createTrafficLog(args.log, systemClock, logger);
  const voice: ProxyVoice = { errors: passErrors, say, hide: (text) => redactor.text(text), log };
  return { ...prepared, storePath: path, voice, logger, log };
}

/**
 * A configuration that says something of servers, and of none of these: a name is likely mistyped, and the rules under it hold for nobody. One
 * file may well serve several proxies, so that each of them says nothing of the others.
 */
function unconfigured(policies: Policies, names: readonly string[]): readonly string[] {
  const configured = policies.unused([]);
  const others = policies.unused(names);
  if (others.length === 0 || others.length < configured.length) return [];
  const known = others.map(({ integration }) => integration).join(', ');
  return [
    `The configuration says nothing of ${names.join(', ')}; it has ${known}. --name says which of them the server is.`,
  ];
}

/** A client that does not read our stderr must not have it kept for ever. */
function passErrors(chunk: Uint8Array | string): void {
  if (process.stderr.writableLength < mostUnreadErrors) process.stderr.write(chunk);
}
