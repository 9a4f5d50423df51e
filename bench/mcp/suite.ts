import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type CommandLine, unwedge } from '../cli/processes.ts';
import { type Case, defineSuite, ownTarget, type Subject, type Target } from '../harness/suite.ts';
import {
  againstPipe,
  type Connect,
  largeResult,
  manyInFlight,
  manyNotifications,
  oneAtATime,
  peakMemory,
  toInitialize,
  type Ways,
} from './cases.ts';
import { connectStdio } from './client.ts';
import { connectHttp } from './httpClient.ts';
import { connectOfficial, connectSupervised } from './remoteClients.ts';

const inFlight = 64;
/** Calls of a turn over HTTP, of which there are a tenth as many in a second. */
const fewer = 400;
const echo = 'echo, one at a time';
const flight = `echo, ${inFlight} in flight`;
const realFlight = `echo of server-everything, ${inFlight} in flight`;
const byRule = 'echo of a tool with rules, one at a time';
const joined = 'echo of a tool that may be joined, one at a time';
const paged = 'echo with large results in pages, one at a time';
const besidePipe = 'against the pipe';
const large = 'a result of 5 MB';
const steps = 'a call with 1,000 notifications';
const memory = '100,000 calls';
const start = 'time to initialize of server-everything, no record';
const startOnRecord = 'time to initialize of server-everything, on record';
const remote = 'echo of a remote server, one at a time';
const remoteFlight = `echo of a remote server, ${inFlight} in flight`;

const program = (path: string): CommandLine => [process.execPath, fileURLToPath(new URL(path, import.meta.url))];
const idle = program('./echoServer.js');
const real = program('../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const relay = program('./plainRelay.js');
const mcpProxy = program('../../../bench/node_modules/mcp-proxy/dist/bin/mcp-proxy.mjs');
const hasMcpProxy = existsSync(mcpProxy[1] ?? '');

/** A remote server in the library, against the official client. */
const remoteWays: Ways = {
  own: connectSupervised,
  direct: connectOfficial,
  echo: (client) => client.call('echo', { text: 'hello' }),
};

/** How a subject gets to a server. */
type Reach = (server: CommandLine) => Connect;

const direct: Reach = (server) => (env) => connectStdio(server, env);
const piped: Reach = (server) => (env) => connectStdio([...relay, ...server], env);
const proxied: Reach = (server) => (env) => connectStdio(unwedge('mcp', '--', ...server), env);
const unrecorded: Reach = (server) => (env) => connectStdio(unwedge('mcp', '--no-cache', '--', ...server), env);
const pages: Reach = (server) => (env) => connectStdio(unwedge('mcp', '--max-result', '100kB', '--', ...server), env);
/** With rules for the tool that is called. */
const ruled = (tool: object): Reach => {
  const policies = { integrations: { echo: { allow: ['e*'], deny: ['x*'], tools: { 'e*': tool } } } };
  return (server) => (env) => {
    const config = join(mkdtempSync(join(tmpdir(), 'unwedge-bench-')), 'unwedge.json');
    writeFileSync(config, JSON.stringify({ policies }));
    return connectStdio(unwedge('mcp', '--name', 'echo', '--config', config, '--', ...server), env);
  };
};
const bridged: Reach = (server) => (env) =>
  connectHttp((port) => [...mcpProxy, '--server', 'stream', '--port', `${port}`, '--', ...server], env);

const bridge: Subject = {
  name: 'mcp-proxy',
  about: 'the npm package, streamable HTTP in front of the same server, with its defaults',
  cases: casesOf(bridged, fewer),
};

/** What it costs to have an MCP server behind `unwedge mcp`, against a connection without it. */
export const mcpSuite = defineSuite({
  name: 'mcp',
  about:
    'What `unwedge mcp` costs in front of an MCP server that does next to nothing, seen by a client that does next to nothing: no SDK, which ' +
    'would take longer than what is measured, but the same bytes over the same kind of pipe. Each run has two connections, and takes turns ' +
    'between the direct one and its own; `added`, `share` and `times` are of these turns. How many calls a second is judged with the ' +
    'reference server: with one that does nothing, a process in between costs a share of its own, and `pipe` shows how much. A remote server is ' +
    'called through `gateway.mcpServer`, and beside it by the official client with its own transport, in the same process.' +
    (hasMcpProxy
      ? ''
      : ' The npm package mcp-proxy is not installed and is left out: `npm ci --ignore-scripts` in bench.'),
  baseline: 'direct',
  subjects: [
    { name: 'direct', about: 'the pipes of the server itself', cases: casesOf(direct) },
    {
      name: 'unwedge',
      about: 'the built `unwedge mcp`, with a store of its own',
      cases: {
        ...casesOf(proxied),
        [besidePipe]: againstPipe(waysOf(proxied, idle), piped(idle), inFlight),
        [start]: toInitialize(waysOf(unrecorded, real)),
        [startOnRecord]: toInitialize(waysOf(proxied, real)),
        [memory]: peakMemory(waysOf(proxied, idle), 100_000, inFlight),
        [remote]: oneAtATime(remoteWays),
        [remoteFlight]: manyInFlight(remoteWays, inFlight, fewer),
      },
    },
    {
      name: 'pipe',
      about: 'a Node program of ten lines in between, which pipes both ways',
      cases: { ...casesOf(piped), [start]: toInitialize(waysOf(piped, real)) },
    },
    {
      name: 'rules',
      about: '`unwedge mcp` with rules on the tool that is called, or with `--max-result`, against one without',
      cases: {
        [byRule]: oneAtATime({
          ...waysOf(ruled({ describe: 'Gives back what it is given', effect: 'readOnly' }), idle),
          direct: proxied(idle),
        }),
        [joined]: oneAtATime({ ...waysOf(ruled({ join: true }), idle), direct: proxied(idle) }),
        [paged]: oneAtATime({ ...waysOf(pages, idle), direct: proxied(idle) }),
      },
    },
    ...(hasMcpProxy ? [bridge] : []),
  ],
  targets: [
    ownTarget('added latency of an echo, p50, in µs', echo, 'added p50', { atMost: 300 }),
    ownTarget(`throughput with ${inFlight} in flight, against direct`, realFlight, 'share of direct', { atLeast: 0.7 }),
    ownTarget(`throughput with ${inFlight} in flight, against a pipe`, besidePipe, 'share of the pipe', {
      atLeast: 0.85,
    }),
    ownTarget('added latency of an echo, p50, times that of a pipe', besidePipe, 'added p50, times that of the pipe', {
      atMost: 1.3,
    }),
    ownTarget('throughput of a remote server, against the official client', remoteFlight, 'share of direct', {
      atLeast: 0.7,
    }),
    ownTarget('time to initialize without a record, times direct', start, 'times direct', { atMost: 1.6 }),
    ownTarget('time to initialize with a record, times direct', startOnRecord, 'times direct', { atMost: 1 }),
    ownTarget('notifications that came, of 1,000', steps, 'came', { atLeast: 1000 }),
    ...[byRule, joined, paged].map((of): Target => {
      const about = { subject: 'rules', case: of, metric: 'added p50' };
      return { says: `added by rules: ${of}, p50, in µs`, of: about, by: 'median', atMost: 20 };
    }),
    ownTarget('most memory after 100,000 calls, in bytes', memory, 'peak memory', { atMost: 58_000_000 }),
    ownTarget('most memory after 100,000 calls, against before', memory, 'peak memory, after/before', { atMost: 1.1 }),
  ],
});

function casesOf(reach: Reach, calls?: number): Record<string, Case> {
  const ways = waysOf(reach, idle);
  return {
    [echo]: oneAtATime(ways),
    [flight]: manyInFlight(ways, inFlight, calls),
    [realFlight]: manyInFlight(waysOf(reach, real), inFlight, calls),
    [large]: largeResult(ways, 5_000_000),
    [steps]: manyNotifications(ways, 1000),
  };
}

function waysOf(reach: Reach, server: CommandLine): Ways {
  const input = { text: 'hello', message: 'hello' };
  return { own: reach(server), direct: direct(server), echo: (client) => client.call('echo', input) };
}
