import type { Readable } from 'node:stream';
import type { JudgedRuntime } from '../../store/runtimes.ts';
import { systemClock } from '../../runtime/systemClock.ts';
import { type InspectorServer, startInspectorServer, statelyInspectorUrl } from '../../inspector/server.ts';
import { CommandError } from '../errors.ts';
import type { Io } from '../io.ts';
import { runtimeText } from '../liveRuntimes.ts';
import { toJson } from '../sanitize.ts';
import { chooseRuntime } from './chooseRuntime.ts';
import { isGone, openRelay } from './relay.ts';
import { wrapLines } from '../wrap.ts';

/** Arguments of `unwedge inspect`. */
export interface InspectArgs {
  readonly attach: string | undefined;
  /** 0 for a free one. */
  readonly port: number;
  readonly stately: boolean;
  readonly json: boolean;
  readonly db: string | undefined;
}

/** Each is a client of the control socket, which others need too. */
const maxViewers = 4;

/** Time in ms between questions to the gateway whether it is still there. */
const askEveryMs = 2000;

/**
 * Shows a live gateway until it stops or the command is told to end.
 * @throws CommandError when there is none, or several to choose from, or it cannot be watched.
 */
export async function run(args: InspectArgs, io: Io): Promise<number> {
  const runtime = await chooseRuntime(args, io);
  const socket = runtime.socket ?? '';
  const open = (): Promise<Readable> => openRelay(socket);
  // A runtime that cannot be watched says so now, not in the browser.
  (await open()).destroy();
  const server = await startInspectorServer({
    clock: systemClock,
    open,
    port: args.port,
    ...(args.stately && { stately: statelyInspectorUrl }),
    holdsProcess: true,
    maxViewers,
  }).catch((error: unknown) => {
    throw new CommandError(`Cannot listen on port ${args.port}: ${(error as Error).message}`, { cause: error });
  });
  say(server, runtime, args, io);
  const gone = await ended(socket, io.signal);
  if (gone) io.stderr.write(`unwedge: ${runtimeText(runtime, io.now())} has stopped.\n`);
  await server.close(gone ? 1000 : 0);
  return 0;
}

function say({ url, webSocketUrl }: InspectorServer, runtime: JudgedRuntime, args: InspectArgs, io: Io): void {
  const { stately } = args;
  if (args.json) io.stdout.write(toJson({ url, webSocketUrl, stately, runtime }));
  else io.stdout.write(`${runtimeText(runtime, io.now())}: ${url}\n`);
  const notice = stately
    ? ` What is shown goes to ${statelyInspectorUrl}, a third party, once you agree on the page.`
    : '';
  const line = `unwedge: Ctrl-C ends it. Keep the address to yourself: its token opens the page.${notice}`;
  io.stderr.write(wrapLines([line], io.columns));
}

/** Resolves with true when the runtime has gone, with false when the signal came first. */
function ended(socket: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const ask = async (): Promise<void> => {
      if (await isGone(socket)) resolve(true);
      else if (!signal.aborted) systemClock.setTimeout(() => void ask(), askEveryMs);
    };
    signal.addEventListener('abort', () => resolve(false), { once: true });
    if (signal.aborted) resolve(false);
    else void ask();
  });
}
