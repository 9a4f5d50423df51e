import { resolve } from 'node:path';
import { McpHttp, mcpPath } from '../../proxy/http/mcpHttp.ts';
import { Refusals } from '../../proxy/http/refusals.ts';
import { shellWord } from '../../src/policy/text/face.ts';
import { messageOf } from '../../src/policy/failures/face.ts';
import { OwnFigures, ownMetrics } from '../../src/runtime/face.ts';
import { type HttpServer, startHttpServer } from '../../web/server/httpServer.ts';
import { asksForMetrics, sendMetrics } from '../../web/server/sendMetrics.ts';
import { CommandError, UsageError } from '../errors.ts';
import { type Io, untilAborted } from '../io.ts';
import { startTelemetry } from '../otel.ts';
import { ownVersion } from '../doctor/ownVersion.ts';
import { aboveZero } from '../parse.ts';
import { quoted } from '../sanitize.ts';
import { type ListenToken, listenToken } from '../tokenFile.ts';
import type { McpArgs } from './options.ts';
import { prepareMcp, type Served } from './prepareMcp.ts';
import { openServed } from './serving.ts';

/** Time in ms that calls may take to be answered once the process was told to end; a second signal does not wait for that. */
const drainMs = 5000;
/** Time in ms that clients may take for the rest then. */
const lingerMs = 500;
const usualSessionMs = 30 * 60_000;

/** Offers a server by HTTP until the process is told to end. Gives the exit code. */
export async function listenCommand(args: McpArgs, io: Io, address: string, served: Served): Promise<number> {
  const port = listenPort(address);
  const sessionMs = aboveZero('--session-timeout', args['session-timeout']) ?? usualSessionMs;
  const token = listenToken(args);
  const { name } = served;
  const prepared = await prepareMcp(args, io, served);
  const { registry, checked, log } = prepared;
  const { runtime } = registry;
  // It is in the headers of clients; a child of theirs may print it.
  checked.secrets.learn({ UNWEDGE_MCP_TOKEN: token?.value });
  const figures = new OwnFigures(registry);
  const { open, methods } = openServed(served, prepared, false);
  const telemetry = await startTelemetry(args.otel, registry, io);
  await registry.start({ storeLater: registry.runtime.inbox === undefined });
  const refusals = new Refusals(runtime.clock, (status, requests) =>
    runtime.bus.tell({ type: 'mcp.http_refused', server: name, status, requests }),
  );
  const refused = (status: number): void => refusals.count(status);
  const http = new McpHttp({
    refused,
    clock: runtime.clock,
    open,
    shared: args.shared,
    sessionMs,
    maxSessions: args['max-sessions'],
    version: ownVersion(),
  });
  let server: HttpServer;
  try {
    server = await startHttpServer({
      clock: runtime.clock,
      port,
      token: token === undefined ? undefined : { value: token.value, in: 'bearer' },
      holdsProcess: true,
      refused,
      answer(request, response) {
        if (asksForMetrics(request)) return sendMetrics(request, response, ownMetrics(figures));
        return http.answer(request, response);
      },
    });
  } catch (error) {
    await registry.stop();
    throw new CommandError(`Nothing can listen on 127.0.0.1:${port}: ${messageOf(error)}`, { cause: error });
  }
  process.stderr.write(announcement(name, `${server.origin}${mcpPath}`, token));
  const live = registry.show({
    name: `unwedge mcp ${served.title}`,
    methods,
  });
  void prepared.openStore().then(() => {
    if (!registry.stopped) return live.open();
  });

  await untilAborted(io.signal);
  http.drain();
  refusals.end();
  await registry.stop({ drainMs, recordsEarly: true });
  http.close();
  await server.close(lingerMs);
  await telemetry.end();
  await log?.flush();
  return 0;
}

/** Writes all that people need to connect a client: this once it is said, and it is not kept. */
function announcement(name: string, url: string, token: ListenToken | undefined): string {
  // A client fills in the variable, so that no configuration holds the token.
  const shown = token?.file === undefined ? token?.value : `\${${tokenVariable}}`;
  const headers = shown === undefined ? undefined : { Authorization: `Bearer ${shown}` };
  const configuration = { mcpServers: { [name]: { type: 'http', url, headers } } };
  return [
    `unwedge: ${name} is served at ${url}`,
    ...(token === undefined ? ['unwedge: it asks for no token: whoever is on this machine may use it'] : []),
    'unwedge: the configuration of a client:',
    JSON.stringify(configuration),
    ...(token?.file === undefined ? [] : fileLines(name, url, token.file)),
    '',
  ].join('\n');
}

/** Variable that a client reads the token from. */
const tokenVariable = 'UNWEDGE_MCP_TOKEN';

/** Tells how clients get the token of a file, without a word of it. */
function fileLines(name: string, url: string, file: string): readonly string[] {
  const reading = `$(cat ${shellWord(resolve(file))})`;
  return [
    `unwedge: ${tokenVariable} is to be set where the client is started:`,
    `export ${tokenVariable}="${reading}"`,
    `unwedge: for Claude Code instead: claude mcp add --transport http ${shellWord(name)} ${url} --header "Authorization: Bearer ${reading}"`,
    `unwedge: for Codex, in its entry: bearer_token_env_var = "${tokenVariable}"`,
  ];
}

/**
 * The port of `--listen`.
 * @throws {@link UsageError} for an address that others could reach, and for what is none.
 */
function listenPort(text: string): number {
  const [, host, port] = /^(?:(.*):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535) {
    throw new UsageError(`Expected \`--listen\` to be 127.0.0.1:PORT, got ${quoted(text)}`);
  }
  if (host !== undefined && host !== '127.0.0.1' && host.toLowerCase() !== 'localhost') {
    throw new UsageError(
      `Expected \`--listen\` to be 127.0.0.1:PORT, got ${quoted(text)}: whoever reaches the server may have it run things in your name, ` +
        'so it is offered on this machine alone; put a proxy with TLS and a login of its own in front for others',
    );
  }
  return Number(port);
}
