import { dirname, join } from 'node:path';
import { HandshakeFiles } from '../../proxy/wire/handshakeFiles.ts';
import { allowedEnvironment, mcpEnvironment } from '../../src/actors/mcp/serverEnvironment.ts';
import type { HandshakeShelf } from '../../proxy/wire/recordedHandshake.ts';
import { superviseMcpProxy } from '../../proxy/mcp/mcpProxy.ts';
import { proxyWhy } from '../../proxy/mcp/proxyWhy.ts';
import type { McpProxyOptions } from '../../proxy/mcp/settings.ts';
import type { KnownSecrets } from '../../src/redaction/knownSecrets.ts';
import { withoutTokens } from '../../src/redaction/secretShapes.ts';
import { nameIn } from '../../src/runtime/liveRuntime.ts';
import { mayHaveOrphans } from '../../src/store/unopened.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { configFile } from '../namedConfig.ts';
import { startTelemetry } from '../otel.ts';
import { exitCodes } from '../run/exitCode.ts';
import { startRegistry } from '../startRegistry.ts';
import { commandIdentity } from './commandIdentity.ts';
import { hasNoClient, noClientCode, noClientLines } from './noClient.ts';
import type { McpArgs } from './options.ts';
import { planLimits, planMcp } from './plan.ts';
import { prepareMcp } from './prepareMcp.ts';
import { misspeltKeys } from './serverKeys.ts';
import { fieldsIn, readServersFile, serversIn } from './serversFile.ts';
import type { Served } from './serving.ts';

/** Time in ms that the store waits for the first answer: opening it must not delay that. */
const storeAfterMs = 2000;
/** Time in ms that the client may take for the rest when everything has ended. */
const lastMs = 500;
/** For alerts on their way, in ms: 2 s after SIGTERM the client ends this process. */
const alertMs = 1000;

/** Does what `unwedge mcp` was asked to do. Gives the exit code. */
export async function mcpCommand(args: McpArgs, io: Io, rest: readonly string[]): Promise<number> {
  if (args['sign-in'] && args.url !== undefined) {
    return (await import('./signInCommand.ts')).signInCommand(args, io, args.url, rest);
  }
  const served = await whatToServe(args, io.env, rest);
  if (args.listen !== undefined) {
    return (await import('./listenCommand.ts')).listenCommand(args, io, args.listen, served);
  }
  for (const option of ['shared', 'token-file', 'no-token', 'session-timeout'] as const) {
    if (args[option] !== undefined && args[option] !== false)
      throw new UsageError(`Option --${option} is for --listen`);
  }
  const [options] = served.servers;
  if (served.isHub || options === undefined) return (await import('./hubCommand.ts')).hubCommand(args, io, served);
  const { name } = served;
  const prepared = await prepareMcp(args, io, served);
  const { registry, storePath, voice, log } = prepared;
  const { runtime } = registry;

  const telemetry = await startTelemetry(args.otel, registry, io);
  await startRegistry(registry, prepared.logger, { storeLater: !mayHaveOrphans(storePath) });
  const proxy = superviseMcpProxy(runtime, options, {
    input: process.stdin,
    output: process.stdout,
    ...voice,
    handshakes: handshakesOf(options, { storePath, secrets: prepared.checked.secrets, noCache: args['no-cache'] }),
  });
  const live = registry.show({
    name: `unwedge mcp ${name}`,
    methods: {
      why(params) {
        const session = nameIn(params, 'session');
        if (session !== name) throw new RangeError(`No session \`${session}\`: this is a proxy of ${name}`);
        return proxyWhy(proxy);
      },
    },
  });
  void openLater();

  const aborted = new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve();
    else io.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([proxy.ended, aborted]);
  const hurried = io.signal.aborted;
  const isAlone = !hurried && hasNoClient(process.stdin);
  if (isAlone) for (const line of noClientLines(served.servers, io.env, process.cwd())) voice.say(line);
  await registry.stop({ recordsEarly: true, lastCallsMs: alertMs });
  await telemetry.end();
  await log?.flush();
  process.stdin.destroy();
  // A client that does not read what is left must not keep this process.
  runtime.clock.setTimeout(() => process.exit(), lastMs);
  if (isAlone) return noClientCode;
  return hurried ? exitCodes.brokenPipe : 0;

  async function openLater(): Promise<void> {
    await Promise.race([
      proxy.served,
      new Promise<void>((resolve) => {
        runtime.clock.setTimeout(resolve, storeAfterMs);
      }),
    ]);
    if (registry.stopped) return;
    await prepared.openStore();
    if (!registry.stopped) await live.open();
  }
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
