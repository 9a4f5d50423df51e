import type { Io } from '../io.ts';
import { exitCodes } from '../run/exitCode.ts';
import { startTelemetry } from '../otel.ts';
import { hasNoClient, noClientCode, noClientLines } from './noClient.ts';
import type { McpArgs } from './options.ts';
import { prepareMcp } from './prepareMcp.ts';
import { openServed, type Served } from './serving.ts';

/** Time in ms that the client may take for the rest when everything has ended. */
const lastMs = 500;
/** For alerts on their way, in ms: 2 s after SIGTERM the client ends this process. */
const alertMs = 1000;

/** Serves the client on stdin with several servers as one. Gives the exit code. */
export async function hubCommand(args: McpArgs, io: Io, served: Served): Promise<number> {
  const prepared = await prepareMcp(args, io, served);
  const { registry, log } = prepared;
  const { open, methods } = openServed(served, prepared, true);
  const telemetry = await startTelemetry(args.otel, registry, io);
  await registry.start({ storeLater: true });
  const ended = open({ input: process.stdin, output: process.stdout });
  const live = registry.show({
    name: `unwedge mcp ${served.title}`,
    methods,
  });
  void prepared.openStore().then(() => {
    if (!registry.stopped) return live.open();
  });
  const aborted = new Promise<void>((resolve) => {
    if (io.signal.aborted) resolve();
    else io.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([ended, aborted]);
  const hurried = io.signal.aborted;
  const isAlone = !hurried && hasNoClient(process.stdin);
  if (isAlone) for (const line of noClientLines(served.servers, io.env, process.cwd())) prepared.voice.say(line);
  await registry.stop({ recordsEarly: true, lastCallsMs: alertMs });
  await telemetry.end();
  await log?.flush();
  process.stdin.destroy();
  // A client that does not read what is left must not keep this process.
  registry.runtime.clock.setTimeout(() => process.exit(), lastMs);
  if (isAlone) return noClientCode;
  return hurried ? exitCodes.brokenPipe : 0;
}
