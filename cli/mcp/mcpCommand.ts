import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { HandshakeFiles } from '../../proxy/wire/handshakeFiles.ts';
import { allowedEnvironment, endHeadStart, mcpEnvironment } from '../../src/actors/mcp/face.ts';
import type { HandshakeShelf } from '../../proxy/wire/recordedHandshake.ts';
import { superviseMcpProxy } from '../../proxy/mcp/mcpProxy.ts';
import { proxyLayers, proxyWhy } from '../../proxy/mcp/proxyWhy.ts';
import type { McpProxyOptions } from '../../proxy/mcp/settings.ts';
import type { Methods } from '../../src/control/face.ts';
import { type KnownSecrets, withoutTokens } from '../../src/redaction/face.ts';
import { nameIn } from '../../src/runtime/face.ts';
import { mayHaveOrphans } from '../../reader/unopened.ts';
import { UsageError } from '../errors.ts';
import { type Io, untilAborted } from '../io.ts';
import { configFile } from '../namedConfig.ts';
import { startTelemetry } from '../otel.ts';
import { hasNoClient } from '../proxyRuntime.ts';
import { exitCodes } from '../run/exitCode.ts';
import { startRegistry } from '../startRegistry.ts';
import { commandIdentity } from './commandIdentity.ts';
import type { McpArgs } from './options.ts';
import { planLimits, planMcp } from './plan.ts';
import { type PreparedMcp, prepareMcp, type Served } from './prepareMcp.ts';
import { fieldsIn, misspeltKeys, readServersFile, serversIn } from './serversFile.ts';
import type { Environment } from '../../src/store/face.ts';
import { findProgram } from '../doctor/findProgram.ts';
import { quoted } from '../sanitize.ts';

/** Time in ms that the store waits for the first answer: opening it must not delay that. */
const storeAfterMs = 2000;
/** Time in ms that the client may take for the rest when everything has ended. */
const lastMs = 500;
/** For alerts on their way, in ms: 2 s after SIGTERM the client ends this process. */
const alertMs = 1000;

/** Does what `unwedge mcp` was asked to do. Gives the exit code. */
export async function mcpCommand(args: McpArgs, io: Io, rest: readonly string[]): Promise<number> {
  if (args['sign-in'] && args.url !== undefined)
    return (await import('./signInCommand.ts')).signInCommand(args, io, args.url, rest);
  const served = await whatToServe(args, io.env, rest);
  // What is kept for good is loaded: see startServerAhead.
  setFlagsFromString('--semi-space-growth-factor=1');
  // Calls under way grow out of that, and would be collected only beyond 50 MB: 138 MB in all by HTTP, 97 so, for the same CPU time; on stdio 110, and 80 so (Node 20.20).
  setFlagsFromString(`--heap-growing-percent=${(args.url ?? args.listen) === undefined ? 30 : 60}`);
  if (args.listen !== undefined)
    return (await import('./listenCommand.ts')).listenCommand(args, io, args.listen, served);
  for (const option of ['shared', 'token-file', 'no-token', 'session-timeout'] as const) {
    if (args[option] !== undefined && args[option] !== false)
      throw new UsageError(`Option --${option} is for --listen`);
  }
  const prepared = await prepareMcp(args, io, served);
  const { registry, voice, log } = prepared;
  const { runtime } = registry;
  const telemetry = await startTelemetry(args.otel, registry, io);
  const [options] = served.servers;
  const { methods, ended, storeAfter } =
    served.isHub || options === undefined
      ? await serveSeveral(served, prepared)
      : await serveOne(options, prepared, args['no-cache']);
  const live = registry.show({ name: `unwedge mcp ${served.title}`, methods });
  void openLater();

  await Promise.race([ended, untilAborted(io.signal)]);
  const hurried = io.signal.aborted;
  const isAlone = !hurried && hasNoClient(process.stdin);
  if (isAlone) for (const line of noClientLines(served.servers, io.env, process.cwd())) voice.say(line);
  await registry.stop({ recordsEarly: true, lastCallsMs: alertMs });
  await telemetry.end();
  await log?.flush();
  process.stdin.destroy();
  // Told to end as it loaded: the exit code is known only after what nobody took has ended.
  await endHeadStart();
  // A client that does not read what is left must not keep this process.
  runtime.clock.setTimeout(() => process.exit(), lastMs);
  if (isAlone) return noClientCode;
  return hurried ? exitCodes.brokenPipe : 0;

  async function openLater(): Promise<void> {
    if (storeAfter !== undefined)
      await Promise.race([
        storeAfter,
        new Promise<void>((resolve) => {
          runtime.clock.setTimeout(resolve, storeAfterMs);
        }),
      ]);
    if (registry.stopped) return;
    await prepared.openStore();
    if (!registry.stopped) await live.open();
  }
}

/** Servers at work for the client on stdin. */
interface OnStdin {
  readonly methods: Methods;
  readonly ended: Promise<void>;
  /** The store is opened after it, or after 2 s. @defaultValue at once */
  readonly storeAfter?: Promise<void> | undefined;
}

async function serveOne(options: McpProxyOptions, prepared: PreparedMcp, noCache: boolean): Promise<OnStdin> {
  const { registry, storePath, voice, logger } = prepared;
  const { name } = options;
  await startRegistry(registry, logger, { storeLater: !needsStore([options], prepared) });
  const { secrets } = prepared.checked;
  const handshakes = handshakesOf(options, { storePath, secrets, noCache });
  const { stdin: input, stdout: output } = process;
  const proxy = superviseMcpProxy(registry.runtime, options, { input, output, ...voice, handshakes });
  const methods: Methods = {
    layers: () => proxyLayers(proxy),
    why(params) {
      const session = nameIn(params, 'session');
      if (session !== name) throw new RangeError(`No session \`${session}\`: this is a proxy of ${name}`);
      return proxyWhy(proxy);
    },
  };
  return { methods, ended: proxy.ended, storeAfter: proxy.served };
}

/** Tells whether the store is to be open before the first call: what a process left that died is known then. A remote server leaves no mark beside a file. */
function needsStore(servers: readonly McpProxyOptions[], { storePath, registry }: PreparedMcp): boolean {
  const isRemote = servers.some(({ remote }) => remote !== undefined) && existsSync(storePath);
  return isRemote || mayHaveOrphans(storePath) || registry.runtime.inbox !== undefined;
}

/** Several servers as one. */
async function serveSeveral(served: Served, prepared: PreparedMcp): Promise<OnStdin> {
  const { open, methods } = (await import('./serving.ts')).openServed(served, prepared, true);
  await prepared.registry.start({ storeLater: !needsStore(served.servers, prepared) });
  return { methods, ended: open({ input: process.stdin, output: process.stdout }) };
}

/** Settings that handshakes are kept by. */
interface HandshakeSettings {
  /** Path of the database beside which they are; `:memory:`: nothing is kept. */
  readonly storePath: string;
  readonly secrets: Pick<KnownSecrets, 'hide' | 'learn'>;
  /** `--no-cache`. */
  readonly noCache: boolean;
}

/** The handshakes of a server that is run as a command; undefined where none are kept. */
function handshakesOf(
  { command, args = [], env, cwd = process.cwd(), envAllow }: McpProxyOptions,
  { storePath, secrets, noCache }: HandshakeSettings,
): HandshakeShelf | undefined {
  if (noCache || command === undefined || storePath === ':memory:' || process.platform === 'win32') return undefined;
  const whole = mcpEnvironment(allowedEnvironment(envAllow, env));
  const identity = commandIdentity({ command, args, cwd, env: whole });
  if (identity === undefined) return undefined;
  secrets.learn(whole);
  return new HandshakeFiles({
    directory: join(dirname(storePath), 'handshakes'),
    identity,
    holdsSecret: (text) => secrets.hide(text) !== text || withoutTokens(text) !== text,
    now: () => Date.now(),
  });
}

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

/** The exit code where nobody was there to be served. */
const noClientCode = 1;

/** Writes the message for then: that it is a client's to start this, and the obstacles that its servers would have met. */
function noClientLines(servers: readonly McpProxyOptions[], env: Environment, cwd: string): readonly string[] {
  const missing = servers.flatMap(({ name, command, cwd: own = cwd }) => {
    if (command === undefined) return [];
    const found = findProgram(command, { env, cwd: own });
    if (found.ok) return [];
    const why = found.why === 'missing' ? 'there is no such command' : 'the file is not executable';
    return [`${name} cannot be started: ${quoted(command)}: ${why}`];
  });
  return [...missing, 'stdin ended before a client said anything; `unwedge mcp` is started by an MCP client'];
}
