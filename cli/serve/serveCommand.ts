import { isIP } from 'node:net';
import { formatDuration, isPostgresUrl, shownUrl } from '../../src/policy/text/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import { type Serving, startServe } from '../../web/serve/serve.ts';
import { StoreUnavailableError } from '../../src/store/face.ts';
import { readDatabase } from '../database.ts';
import { databasePlace } from '../databasePath.ts';
import { CommandError, UsageError } from '../errors.ts';
import { type Io, untilAborted } from '../io.ts';
import { exitCodes, isBrokenPipe } from '../run/exitCode.ts';
import { type ListenToken, listenToken } from '../tokenFile.ts';
import { wholeConfig } from '../namedConfig.ts';
import { createOwnLogger } from '../ownLogger.ts';
import { quoted, sanitize, toJson } from '../sanitize.ts';
import { type ServeArgs, usualDrainMs, usualPort } from './command.ts';
import { servedKeys, whatIsServed } from './whatIsServed.ts';

/** Serves until the command is told to end. Gives the exit code. */
export async function run(args: ServeArgs, io: Io): Promise<number> {
  const place = listenPlace(args);
  const token = listenToken(args);
  const { file, servers, agents, hooks, warnings } = await whatIsServed(args, io.env);
  const config = await wholeConfig(args.config, io, args.servers === undefined ? servedKeys : undefined);
  io.leaveErrors?.();
  // Service managers count every exit code but 0 as a failure.
  io.endInOrder?.();
  const path = databasePlace(args.db ?? config.store, io.env);
  if (path === ':memory:')
    throw new UsageError('A gateway that is served keeps its sessions: `:memory:` cannot be its store');
  const logger = createOwnLogger((line) => void io.stderr.write(`unwedge: ${sanitize(line)}\n`), { info: true });
  for (const warning of warnings) logger.warn(`${file}: ${warning}`);
  const serving = await startServe({
    ...{ servers, agents, hooks, ...place, token: token?.value, maxSessions: args['max-sessions'] },
    gateway: { ...config, store: path, logger, control: true },
    read: (work) => readDatabase(path, io, work),
    dashboardUsed: (url) => {
      if (io.isTTY) io.stderr.write(`unwedge: the address was used; for another browser: ${url}\n`);
    },
  }).catch((error: unknown) => {
    if (error instanceof StoreUnavailableError) throw new CommandError(noStoreText(error), { cause: error });
    const isOption = error instanceof TypeError || error instanceof RangeError;
    throw new CommandError(`${isOption ? `${sanitize(file)}: ` : 'It could not start: '}${messageOf(error)}`, {
      cause: error,
    });
  });
  tell(serving, isPostgresUrl(path) ? shownUrl(path) : path, token, args.json, io);
  await untilAborted(io.signal);
  const drainMs = args.drain ?? usualDrainMs;
  logger.info(`Stopping: what is under way has ${formatDuration(drainMs)} to end`);
  await serving.stop(drainMs);
  return isBrokenPipe(io.signal) ? exitCodes.brokenPipe : 0;
}

/** Explains a missing store; it is named in a file or on the command line: advice for code does not help here. */
function noStoreText({ reason, fix }: StoreUnavailableError): string {
  return `It could not start: its store cannot be had: ${sanitize(reason)}. Fix: ${sanitize(fix)}. It is named by --db, by "store" of the configuration, or by UNWEDGE_DB`;
}

/** Tells people and programs all they need to begin. A token of this run alone is said once; one in a file is not said. */
function tell(
  { origin, dashboardUrl }: Serving,
  database: string,
  token: ListenToken | undefined,
  isJson: boolean,
  io: Io,
): void {
  const own = token !== undefined && token.file === undefined ? token.value : undefined;
  if (isJson) {
    io.stdout.write(toJson({ url: origin, database, token: own, tokenFile: token?.file, dashboard: dashboardUrl }));
    return;
  }
  const shown = token === undefined ? undefined : token.file === undefined ? token.value : `$(cat ${token.file})`;
  const lines = [
    `${origin} serves the gateway of ${sanitize(database)}`,
    token === undefined
      ? 'No token is asked for: whoever is on this machine may use it.'
      : `Token: ${own ?? `in ${sanitize(token.file ?? '')}`}`,
    ...(io.isTTY ? [`Dashboard, for one browser: ${dashboardUrl}`] : []),
    `Try: curl -X POST ${shown === undefined ? '' : `-H "Authorization: Bearer ${shown}" `}${origin}/v1/sessions`,
  ];
  io.stdout.write(`${lines.join('\n')}\n`);
}

/** Place to listen at. */
interface ListenPlace {
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
}

/**
 * The place that `--port` or `--listen` names. Beyond this machine a token is needed that clients can know.
 * @throws {@link UsageError} that says what is wrong.
 */
export function listenPlace(args: Pick<ServeArgs, 'port' | 'listen' | 'token-file' | 'no-token'>): ListenPlace {
  const { port, listen, 'token-file': tokenFile, 'no-token': noToken } = args;
  if (listen === undefined) return { host: loopback, port };
  if (port !== usualPort) throw new UsageError('Expected `--port` or `--listen`, got both');
  const [, named, ipv6, digits] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(listen) ?? [];
  const host = (named ?? ipv6 ?? '').replace(/^localhost$/i, loopback);
  if (isIP(host) === 0 || Number(digits) > 65_535)
    throw new UsageError(
      `Expected \`--listen\` to be ADDRESS:PORT, such as 127.0.0.1:${usualPort}, got ${quoted(listen)}`,
    );
  if (host !== loopback && (noToken || tokenFile === undefined))
    throw new UsageError(
      `--listen ${host} takes requests under any name, and from wherever it is reached: it needs --token-file FILE, whose token they show. There is no TLS; put a proxy that has it in front`,
    );
  return { host, port: Number(digits) };
}

const loopback = '127.0.0.1';
