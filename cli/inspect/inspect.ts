import { pipeline, type Readable, Transform } from 'node:stream';
import { readStatusAnswer } from '../../src/control/face.ts';
import { askRuntime, streamFromRuntime } from '../../operator/client.ts';
import { endFrame } from '../../src/inspector/face.ts';
import { type InspectorServer, startInspectorServer, statelyInspectorUrl } from '../../web/dashboard/inspectServer.ts';
import { askRuntimes } from '../../operator/askRuntimes.ts';
import { systemClock } from '../../src/runtime/face.ts';
import type { JudgedRuntime } from '../../src/store/face.ts';
import type { ArgsOf } from '../command.ts';
import { readDatabase } from '../database.ts';
import { CommandError } from '../errors.ts';
import type { form } from './command.ts';
import type { Io } from '../io.ts';
import { problemLines, runtimeText } from '../liveRuntimes.ts';
import { quoted, sanitize, toJson } from '../sanitize.ts';
import { wrapLines } from '../text.ts';

type InspectArgs = ArgsOf<typeof form>;

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

/** Tells whether nobody listens behind a socket any more. A busy listener is still there. */
async function isGone(socket: string): Promise<boolean> {
  const answer = await askRuntime(socket, 'status', undefined, { clock: systemClock });
  return !answer.ok && answer.reason === 'absent';
}

/**
 * The frames of the runtime behind a socket, each a chunk. They end with the frame that says so when the runtime has stopped.
 * @throws {@link CommandError} when it gives none.
 */
async function openRelay(socket: string): Promise<Readable> {
  const answer = await streamFromRuntime(socket, 'inspect', { clock: systemClock });
  if (!answer.ok) throw new CommandError(`The gateway cannot be watched: ${sanitize(answer.message)}`);
  // A runtime that stops cuts its clients off: that it is gone has to be said here.
  const relayed = new Transform({
    objectMode: true,
    transform: (frame: unknown, _encoding, done) => done(null, frame),
    flush: (done) => void isGone(socket).then((gone) => done(null, gone ? endFrame : undefined)),
  });
  // A client that closes one closes the other; nobody is left to tell.
  pipeline(answer.items, relayed, () => undefined);
  return relayed;
}

/** The one live runtime of the database that is meant. @throws CommandError when there is none, or several. */
async function chooseRuntime({ db, attach }: InspectArgs, io: Io): Promise<JudgedRuntime> {
  const { path, rows } = await readDatabase(db, io, async (reader) => ({
    path: reader.path,
    rows: await reader.runtimes(),
  }));
  const asked = await askRuntimes(rows, io, 'status', readStatusAnswer);
  const live = asked.flatMap(({ runtime, answer }) => (answer === undefined ? [] : [runtime]));
  const meant =
    attach === undefined ? live : live.filter(({ name, pid }) => name === attach || String(pid) === attach.trim());
  const [found, ...others] = meant;
  if (found !== undefined && others.length === 0) return found;
  if (live.length === 0) {
    io.stderr.write(problemLines(asked, io.now()));
    throw new CommandError(`No live runtime answers for ${sanitize(path)}; there is nothing to watch.`);
  }
  const list = (meant.length === 0 ? live : meant).map((runtime) => runtimeText(runtime, io.now())).join(', ');
  if (found !== undefined) throw new CommandError(`${meant.length} live runtimes: ${list}. Choose with --attach PID.`);
  throw new CommandError(`No live runtime is ${quoted(attach ?? '')}; there is ${list}.`);
}
