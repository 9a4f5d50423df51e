import { type PreparedProxy, prepareProxy } from '../proxyRuntime.ts';
import type { ProxyVoice } from '../../proxy/mcp/proxyScope.ts';
import { createTrafficLog, type TrafficLog } from '../../proxy/mcp/trafficLog.ts';
import type { Policies } from '../../src/policy/face.ts';
import { systemClock } from '../../src/runtime/face.ts';
import { createTextRedactor } from '../../src/redaction/face.ts';
import type { Io } from '../io.ts';
import type { McpProxyOptions } from '../../proxy/mcp/settings.ts';
import type { McpArgs } from './options.ts';

/** Bytes that our stderr may hold unread; output of the server beyond is left out. */
const mostUnreadErrors = 1024 * 1024;

/** Servers behind a client: one, or several as one. */
export interface Served {
  /** Name of it as a whole. */
  readonly name: string;
  /** The same for people who look at what runs: several servers without a name of their own by theirs. */
  readonly title: string;
  readonly servers: readonly McpProxyOptions[];
  readonly isHub: boolean;
  /** The keys under which they stand in the configuration. @defaultValue none: they stand elsewhere */
  readonly besides?: readonly string[] | undefined;
  /** Hints at likely misspelt keys in their file, a sentence each. */
  readonly hints?: readonly string[] | undefined;
}

/** Base that every way of serving begins with. */
export interface PreparedMcp extends PreparedProxy {
  readonly voice: ProxyVoice;
  readonly log: TrafficLog | undefined;
}

/** @throws what {@link prepareProxy} throws. */
export async function prepareMcp(
  args: McpArgs,
  io: Io,
  { servers, besides, hints = [] }: Served,
): Promise<PreparedMcp> {
  const prepared = await prepareProxy(args, io, besides);
  const { say, logger } = prepared;
  for (const hint of hints) say(hint);
  const { policies } = prepared.registry.runtime;
  for (const line of unconfigured(
    policies,
    servers.map(({ name }) => name),
  ))
    say(line);
  const redactor = createTextRedactor(prepared.checked.secrets);
  const log = args.log === undefined ? undefined : createTrafficLog(args.log, systemClock, logger);
  let settled: () => void;
  const stored = new Promise<void>((resolve) => (settled = resolve));
  const voice: ProxyVoice = { errors: passErrors, say, hide: (text) => redactor.text(text), log, stored };
  const openStore = (): Promise<void> => prepared.openStore().then(() => settled());
  return { ...prepared, openStore, voice, log };
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
