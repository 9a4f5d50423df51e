import { superviseMcpProxy } from '../../mcpProxy/mcpProxy.ts';
import { proxyWhy } from '../../mcpProxy/proxyWhy.ts';
import { sessionIn } from '../../runtime/liveRuntime.ts';
import { mayHaveOrphans } from '../../store/unopened.ts';
import { UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { exitCodes } from '../run/exitCode.ts';
import { startTelemetry } from '../otel.ts';
import { startRegistry } from '../startRegistry.ts';
import { handshakesOf } from './handshakes.ts';
import { hasNoClient, noClientCode, noClientLines } from './noClient.ts';
import type { McpArgs } from './options.ts';
import { whatToServe } from './whatToServe.ts';
import { prepareMcp } from './prepareMcp.ts';

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
        const session = sessionIn(params);
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
