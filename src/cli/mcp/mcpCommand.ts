import { sessionIn } from '../../runtime/liveRuntime.ts';
import { superviseMcpProxy } from '../../mcpProxy/mcpProxy.ts';
import { createMcpProxyRuntime } from '../../mcpProxy/mcpProxyRuntime.ts';
import { createTrafficLog } from '../../mcpProxy/trafficLog.ts';
import { mayHaveOrphans } from '../../store/unopened.ts';
import { storePath } from '../../store/paths.ts';
import { createTextRedactor } from '../../store/secrets.ts';
import { systemClock } from '../../runtime/systemClock.ts';
import type { Io } from '../io.ts';
import { namedConfig } from '../namedConfig.ts';
import { createOwnLogger } from '../ownLogger.ts';
import { exitCodes } from '../run/exitCode.ts';
import { sanitize } from '../sanitize.ts';
import type { McpArgs } from './options.ts';
import { planMcp } from './plan.ts';

/** How long the store waits for the first answer, in ms: opening it must not delay that. */
const storeAfterMs = 2000;
/** How long the client may take for what is left when everything has ended, in ms. */
const lastMs = 500;
/** What our stderr may hold unread, in bytes; what the server writes beyond is left out. */
const mostUnreadErrors = 1024 * 1024;

/** Does what `unwedge mcp` was asked to do. Gives the exit code. */
export async function mcpCommand(args: McpArgs, io: Io, rest: readonly string[]): Promise<number> {
  const options = planMcp(args, rest);
  // Many a client closes what it does not want to read; it still wants its server.
  io.leaveErrors?.();
  const { name } = options;
  const say = (line: string): void => void process.stderr.write(`unwedge: ${sanitize(line)}\n`);
  const logger = createOwnLogger(say);
  const config = await namedConfig(args.config, io);
  const path = storePath(args.db ?? config.store, io.env);
  const prepared = createMcpProxyRuntime({ ...config, store: { path, required: false }, logger });
  const { registry, checked } = prepared;
  const { runtime } = registry;
  const redactor = createTextRedactor(checked.secrets);
  const log = args.log === undefined ? undefined : createTrafficLog(args.log, systemClock, logger);

  await registry.start({ storeLater: !mayHaveOrphans(path) });
  const proxy = superviseMcpProxy(runtime, options, {
    input: process.stdin,
    output: process.stdout,
    errors: passErrors,
    say,
    hide: (text) => redactor.text(text),
    log,
  });
  const live = registry.show({
    name: `unwedge mcp ${name}`,
    methods: {
      why(params) {
        throw new RangeError(`No session \`${sessionIn(params)}\`: this is a proxy of ${name}`);
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
  await registry.stop({ recordsEarly: true });
  await log?.flush();
  process.stdin.destroy();
  // A client that does not read what is left must not keep this process.
  runtime.clock.setTimeout(() => process.exit(), lastMs);
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

/** A client that does not read our stderr must not have it kept for ever. */
function passErrors(chunk: Uint8Array | string): void {
  if (process.stderr.writableLength < mostUnreadErrors) process.stderr.write(chunk);
}
