import { userInfo } from 'node:os';
import { DatabaseSource } from '../../web/dashboard/databaseSource.ts';
import { type DashboardServer, startDashboardServer } from '../../web/dashboard/server.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import { systemClock } from '../../src/runtime/face.ts';
import type { ArgsOf } from '../command.ts';
import { readDatabase } from '../database.ts';
import { CommandError } from '../errors.ts';
import { type Io, untilAborted } from '../io.ts';
import { endedCode } from '../run/exitCode.ts';
import { sanitize, toJson } from '../sanitize.ts';
import type { form } from './command.ts';
import { tokenIn } from '../tokenFile.ts';
import { wrapLines } from '../text.ts';

type DashboardArgs = ArgsOf<typeof form>;

/** Serves the dashboard until the command is told to end. @throws CommandError when the database cannot be read, or the port not be had. */
export async function run(args: DashboardArgs, io: Io): Promise<number> {
  // A database that cannot be read says so now, not in the browser.
  const database = await readDatabase(args.db, io, async ({ path }) => path);
  const source = new DatabaseSource({
    clock: systemClock,
    // A request for data that is not there is no trouble with the database.
    read: (work) =>
      readDatabase(args.db, io, work).catch((error: unknown) => {
        throw error instanceof CommandError && error.cause instanceof RangeError ? error.cause : error;
      }),
  });
  const tokenFile = args['metrics-token-file'];
  const server = await startDashboardServer({
    ...{ clock: systemClock, source, port: args.port, holdsProcess: true, by: whoRuns() },
    metricsToken: tokenFile === undefined ? undefined : tokenIn(tokenFile),
    ...(args['read-only'] && { right: 'read' }),
    used: (url) => io.stderr.write(`unwedge: the address was used; for another browser:\n${url}\n`),
  }).catch((error: unknown) => {
    throw new CommandError(`Cannot listen on port ${args.port}: ${messageOf(error)}`, { cause: error });
  });
  say(server, database, args, io);
  await untilAborted(io.signal);
  await server.close();
  return endedCode(io.signal) ?? 0;
}

function say({ url }: DashboardServer, database: string, { json }: DashboardArgs, io: Io): void {
  io.stdout.write(json ? toJson({ url, database }) : `${sanitize(database)}:\n${url}\n`);
  const notice = 'unwedge: Ctrl-C ends it. Keep the address to yourself: its token opens the page, once.';
  io.stderr.write(wrapLines([notice], io.columns));
}

/** As orders are recorded. */
function whoRuns(): string {
  try {
    return `${userInfo().username} (dashboard)`;
  } catch {
    // A user without an entry, as in some containers.
    return 'dashboard';
  }
}
