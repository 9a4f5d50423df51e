import { resolve } from 'node:path';
import { superviseAcpProxy } from '../../proxy/acp/acpProxy.ts';
import { type OwnWords, wrapServers } from '../../proxy/acp/wrapServers.ts';
import type { AcpProxyOptions } from '../../proxy/acp/settings.ts';
import { mayHaveOrphans } from '../../reader/unopened.ts';
import { endHeadStart } from '../../src/actors/mcp/face.ts';
import type { Methods } from '../../src/control/face.ts';

import { createTextRedactor } from '../../src/redaction/face.ts';
import { nameIn } from '../../src/runtime/face.ts';
import { UsageError, valueAmong } from '../errors.ts';
import { type Io, untilAborted } from '../io.ts';
import { nearestPackage } from '../mcp/plan.ts';
import { serverName } from '../mcp/serverName.ts';
import { startTelemetry } from '../otel.ts';
import { aboveZero } from '../parse.ts';
import { hasNoClient, prepareProxy } from '../proxyRuntime.ts';
import { exitCodes } from '../run/exitCode.ts';
import { startRegistry } from '../startRegistry.ts';
import { agentWords } from './agentWords.ts';
import { spinningOf } from '../spinning.ts';
import type { AcpArgs } from './options.ts';

/** Time in ms that the store waits for the first answer: opening it must not delay that. */
const storeAfterMs = 2000;
/** Time in ms that the editor may take for the rest when everything has ended, and that alerts may take on their way. */
const lastMs = 500;
const alertMs = 1000;
/** Bytes that our stderr may hold unread; output of the agent beyond is left out. */
const mostUnreadErrors = 1024 * 1024;
/** The exit code where nobody was there to be served. */
const noClientCode = 1;

/** Does what `unwedge acp` was asked to do. Gives the exit code. */
export async function acpCommand(args: AcpArgs, io: Io, rest: readonly string[]): Promise<number> {
  const options = planAcp(args, rest);
  const { registry, checked, storePath, logger, say, openStore } = await prepareProxy(args, io);
  const { runtime } = registry;
  const redactor = createTextRedactor(checked.secrets);
  const telemetry = await startTelemetry(args.otel, registry, io);
  await startRegistry(registry, logger, { storeLater: !(mayHaveOrphans(storePath) || registry.runtime.inbox) });
  const proxy = superviseAcpProxy(runtime, options, {
    ...{ input: process.stdin, output: process.stdout, errors: passErrors, say },
    hide: (text) => redactor.text(text),
    layers: async (conversations) => {
      if (runtime.store() === undefined) return [];
      // Loaded now: few prompts are silent.
      return (await import('../../operator/layersBelow.ts')).ownLayers(storePath, conversations);
    },
    ...(args.mcp && { wrap: wrapServers(ownWords(args, storePath)) }),
  });
  runtime.bus.on('session.spinning', ({ message }) => say(`it spins: ${message}`));
  const methods: Methods = {
    why(params) {
      const session = nameIn(params, 'session');
      if (session !== options.name) throw new RangeError(`No session \`${session}\`: this is ${options.name}`);
      return proxy.why();
    },
  };
  const live = registry.show({ name: `unwedge acp ${options.name}`, methods });
  void openLater();

  await Promise.race([proxy.ended, untilAborted(io.signal)]);
  const hurried = io.signal.aborted;
  const isAlone = !hurried && hasNoClient(process.stdin);
  if (isAlone) say('stdin ended before an editor said anything; `unwedge acp` is started by an editor');
  await registry.stop({ recordsEarly: true, lastCallsMs: alertMs });
  await telemetry.end();
  process.stdin.destroy();
  // Told to end as it loaded: the exit code is known only after what nobody took has ended.
  await endHeadStart();
  // An editor that does not read what is left must not keep this process.
  runtime.clock.setTimeout(() => process.exit(), lastMs);
  if (isAlone) return noClientCode;
  return hurried ? exitCodes.brokenPipe : 0;

  async function openLater(): Promise<void> {
    const waited = new Promise<void>((resolve) => void runtime.clock.setTimeout(resolve, storeAfterMs));
    await Promise.race([proxy.served, waited]);
    if (registry.stopped) return;
    await openStore();
    if (!registry.stopped) await live.open();
  }
}

/**
 * Makes the options of a proxy from its command line.
 * @throws {@link UsageError} that names what is wrong.
 */
function planAcp(args: AcpArgs, rest: readonly string[]): AcpProxyOptions {
  const [command, ...words] = agentWords(rest);
  if (args.json) throw new UsageError('Option --json is of no use here: stdout is the editor’s');
  const envAllow = args['env-allow'];
  return {
    name: args.name ?? serverName(command, words, { cwd: process.cwd(), packageOf: nearestPackage }),
    command,
    args: words,
    idleMs: aboveZero('--idle-timeout', args['idle-timeout']),
    toolMs: aboveZero('--tool-timeout', args['tool-timeout']),
    cancelMs: aboveZero('--cancel-timeout', args['cancel-timeout']),
    startMs: aboveZero('--start-timeout', args['start-timeout']),
    errors: valueAmong('--errors', args.errors, ['error', 'message'] as const),
    spinning: spinningOf(args.spinning),
    envAllow: envAllow.length === 0 ? undefined : envAllow,
  };
}

/** An editor that does not read our stderr must not have it kept for ever. */
function passErrors(chunk: Uint8Array | string): void {
  if (process.stderr.writableLength < mostUnreadErrors) process.stderr.write(chunk);
}

/** Words of this program; the servers behind it are recorded where the agent is. */
function ownWords({ config }: AcpArgs, storePath: string): OwnWords {
  // The agent may start them in another folder, and without its environment.
  const options = ['--db', storePath, ...(config === undefined ? [] : ['--config', resolve(config)])];
  return { command: process.execPath, args: [process.argv[1] ?? ''], options };
}
