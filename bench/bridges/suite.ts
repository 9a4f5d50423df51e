import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type CommandLine, unwedge } from '../cli/processes.ts';
import { type Case, defineSuite, ownTarget, type Subject, type Target } from '../harness/suite.ts';
import { connectStdio } from '../mcp/client.ts';
import { connectHttp } from '../mcp/httpClient.ts';
import { startHttpEcho } from '../mcp/remoteClients.ts';
import { bridged, type Connect, inFlight } from './cases.ts';

const listen = `by HTTP, a server on stdio, ${inFlight} in flight`;
const url = `on stdio, a server by HTTP, ${inFlight} in flight`;

/** Whom each is compared with. */
const peerOf: Readonly<Record<string, string>> = { [listen]: 'mcp-proxy', [url]: 'mcp-remote' };

const program = (path: string): CommandLine => [process.execPath, fileURLToPath(new URL(path, import.meta.url))];
const peer = (path: string): CommandLine => program(`../../../bench/node_modules/${path}`);
const server = program('../mcp/echoServer.js');

const listening =
  (lineOf: (port: number) => CommandLine): Connect =>
  (env) =>
    connectHttp((port) => lineOf(port), env);

const reaching =
  (lineOf: (url: string) => CommandLine): Connect =>
  async (env) => {
    const far = await startHttpEcho();
    const client = await connectStdio(lineOf(far.url), env);
    return {
      ...client,
      async close() {
        await client.close();
        await far.end();
      },
    };
  };

const bareListen = listening((port) => [...program('./bareListen.js'), `${port}`, ...server]);
const bareUrl = reaching((far) => [...program('./bareUrl.js'), far]);
const caseOf = (name: string, own: Connect, bare: Connect): Record<string, Case> => ({ [name]: bridged(own, bare) });

const [mcpProxy, supergateway, mcpRemote] = [
  peer('mcp-proxy/dist/bin/mcp-proxy.mjs'),
  peer('supergateway/dist/index.js'),
  peer('mcp-remote/dist/proxy.js'),
];

const peers: readonly (Subject & { readonly program: CommandLine })[] = [
  {
    name: 'mcp-proxy',
    about: 'the npm package, with its defaults',
    program: mcpProxy,
    cases: caseOf(
      listen,
      listening((port) => [...mcpProxy, '--server', 'stream', '--port', `${port}`, '--', ...server]),
      bareListen,
    ),
  },
  {
    name: 'supergateway',
    about: 'the npm package, with sessions',
    program: supergateway,
    cases: caseOf(
      listen,
      listening((port) => [
        ...supergateway,
        ...['--stdio', server.join(' '), '--outputTransport', 'streamableHttp', '--stateful'],
        ...['--port', `${port}`, '--logLevel', 'none'],
      ]),
      bareListen,
    ),
  },
  {
    name: 'mcp-remote',
    about: 'the npm package, with its defaults',
    program: mcpRemote,
    cases: caseOf(
      url,
      reaching((far) => [...mcpRemote, far, '--allow-http', '--silent']),
      bareUrl,
    ),
  },
];
const installed = peers.filter((each) => existsSync(each.program[1] ?? ''));
const missing = peers.filter((each) => !installed.includes(each)).map(({ name }) => name);

/** The cost of bridges between stdio and HTTP: `unwedge mcp --listen` and `unwedge mcp --url`. */
export const bridgesSuite = defineSuite({
  name: 'bridges',
  about:
    'MCP servers that answer at once, one on stdio that is offered by HTTP and one at an address that is offered on stdio: by `unwedge mcp --listen` and ' +
    '`--url` with their defaults, by the packages that do the same, and by thirty lines of `node:http` with kept connections (`bare`). Raw clients, ' +
    'a process each. Each run takes turns between its own bridge and a bare one; `share` and `times` are of these turns. Memory is what the bridge holds then.',
  baseline: 'bare',
  subjects: [
    {
      name: 'bare',
      about: 'thirty lines of `node:http`',
      cases: { ...caseOf(listen, bareListen, bareListen), ...caseOf(url, bareUrl, bareUrl) },
    },
    {
      name: 'unwedge',
      about: 'the built `unwedge mcp`, with a store of its own',
      cases: {
        ...caseOf(
          listen,
          listening((port) => unwedge('mcp', '--listen', `${port}`, '--no-token', '--', ...server)),
          bareListen,
        ),
        ...caseOf(
          url,
          reaching((far) => unwedge('mcp', '--url', far)),
          bareUrl,
        ),
      },
    },
    ...installed,
  ],
  targets: [listen, url].flatMap((of): Target[] => [
    ownTarget(`calls a second, as a share of a bare bridge: ${of}`, of, 'share of bare', { atLeast: 0.7 }),
    {
      ...ownTarget(`calls a second, times ${peerOf[of]}: ${of}`, of, 'share of bare', { atLeast: of === url ? 5 : 4 }),
      over: { subject: peerOf[of] ?? '', case: of, metric: 'share of bare' },
    },
    ownTarget(`memory, B: ${of}`, of, 'memory', { atMost: 72e6 }),
  ]),
  missing,
});
