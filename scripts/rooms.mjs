// The rooms of the source in order, what may import what, and what is made of the table: each room's README, the picture in docs/design.md.
// `node scripts/rooms.mjs` writes them anew; test/package/rooms.test.ts fails when they are not what the table says.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * Floors from the ground up. A file imports from its own room and from rooms on lower floors; rooms of one floor do not know each other. What is
 * below the entry `src/index.ts` is the core, all else stands outside of it.
 * A room is a folder with all that is in it, but for the folders that are rooms of their own. `pure`: plain functions over plain data, the whole
 * room or these parts of it. `closed`: folders of it that only the room itself imports from.
 * @type {readonly (readonly { room: string, purpose: string, begin: string, next?: readonly string[], pure?: true | readonly string[], closed?: readonly string[] }[])[]}
 */
export const floors = [
  [
    {
      room: 'src/policy',
      purpose:
        'Decisions as plain functions over plain data: failures and their classification, backoff, breaker rules, presets, facts.',
      begin: 'policy.ts',
      next: ['failures/failure.ts', 'facts/facts.ts', 'presets.ts'],
      pure: true,
    },
  ],
  [
    {
      room: 'src/redaction',
      purpose:
        'Masks secrets in what is told: values known as secret, values under names of secrets, shapes of tokens.',
      begin: 'redactFact.ts',
      next: ['secrets.ts', 'knownSecrets.ts'],
      pure: true,
    },
  ],
  [
    {
      room: 'src/protocol',
      purpose: 'Wire formats: lines, JSON-RPC, MCP, what agents say as commands, by their profiles, hooks.',
      begin: 'jsonRpc.ts',
      pure: true,
    },
    {
      room: 'src/machines',
      purpose: 'Lifecycles as XState machines; all I/O is a named slot that others fill.',
      begin: 'integration.ts',
    },
    {
      room: 'src/streams',
      purpose: 'Chunks between the source of a stream and its reader; knows nothing of calls.',
      begin: 'chunkRelay.ts',
    },
    {
      room: 'src/telemetry',
      purpose: 'The typed event bus, event streams, waits for an event.',
      begin: 'bus.ts',
      next: ['eventStream.ts'],
    },
    {
      room: 'src/supervisor',
      purpose: 'Supervision as OTP has it: child specs, strategies, restart windows, quarantine, shutdown, the tree.',
      begin: 'supervisor.ts',
      next: ['supervisorLogic.ts', 'restart.ts'],
    },
  ],
  [
    {
      room: 'src/calls',
      purpose: 'The call path over the integration machine: admission, attempts, retries, deadlines, settlement.',
      begin: 'integration.ts',
      next: ['plainCall.ts', 'conductor.ts', 'admission.ts', 'settlement.ts'],
    },
  ],
  [
    {
      room: 'src/actors',
      purpose: 'Processes and their trees, prompts handed to a command, the client side of an MCP server.',
      begin: 'process/process.ts',
      next: ['mcp/mcpConnection.ts'],
    },
    {
      room: 'src/sessions',
      purpose: 'A session: mailbox, turns, tool calls, questions, history, watchdog.',
      begin: 'session.ts',
      next: ['supervisedSession.ts', 'intake.ts', 'turns.ts', 'persistence.ts'],
    },
  ],
  [
    {
      room: 'src/store',
      purpose: 'What is kept: sessions, calls, events, breakers, alerts, children, by an engine behind one boundary.',
      begin: 'store.ts',
      next: ['openStore.ts', 'sessionRows.ts'],
      closed: ['src/store/sqlite', 'src/store/memory', 'src/store/tables'],
    },
    {
      room: 'src/control',
      purpose: 'The socket of a live runtime and its client, for `unwedge status --tree` and its kin.',
      begin: 'server.ts',
    },
  ],
  [
    {
      room: 'src/runtime',
      purpose: 'What every host shares: clock, store, root supervisor, bus, supervised integrations.',
      begin: 'runtime.ts',
      next: ['registry.ts', 'superviseIntegration.ts', 'keptSessions.ts'],
    },
  ],
  [
    {
      room: 'src/integrations',
      purpose: 'Integrations by kind: a command, an HTTP API, an MCP server, approvals, hooks.',
      begin: 'subprocess/subprocess.ts',
      next: ['http/http.ts', 'mcp/mcpServer.ts', 'hooks/superviseHook.ts'],
    },
    {
      room: 'src/config',
      purpose: 'The configuration file: its sources in order, every problem at once, what is made of it.',
      begin: 'readConfig.ts',
      next: ['layers.ts', 'judge.ts'],
    },
    {
      room: 'src/inspector',
      purpose: 'Machines as they run, as frames for Stately Inspector and for the dashboard; charts read out of them.',
      begin: 'inspection.ts',
    },
  ],
  [
    {
      room: 'src/alerts',
      purpose: 'Alerts: when one is raised and cleared, and who is told.',
      begin: 'superviseAlerts.ts',
      next: ['alertWatch.ts', 'allClear.ts'],
    },
  ],
  [
    {
      room: 'src/gateway',
      purpose: 'Composes all of it; does nothing else.',
      begin: 'gateway.ts',
      next: ['gatewayScope.ts'],
    },
  ],
  [{ room: 'src/index.ts', purpose: 'The public names of `unwedge`.', begin: 'index.ts' }],
  [
    {
      room: 'reader',
      purpose:
        'A store of other processes, read for people: its status, sessions, messages, alerts; whether the file is in order; orders on dead letters.',
      begin: 'storeReader.ts',
      next: ['openReader.ts', 'tableReader.ts'],
    },
  ],
  [
    {
      room: 'transcript',
      purpose: 'Histories of agents mended: every tool call gets exactly one result. The entry `unwedge/transcript`.',
      begin: 'repairTranscript.ts',
      next: ['detect.ts', 'pairing.ts'],
      pure: true,
    },
    {
      room: 'web/server',
      purpose: 'One listener on the loopback address: who may ask (token, Host, Origin), and its end.',
      begin: 'httpServer.ts',
    },
    {
      room: 'proxy/wire',
      purpose: 'MCP messages as they pass between a client and a server, and what is recorded of a handshake.',
      begin: 'serverLines.ts',
      next: ['mcpClientPipe.ts', 'sessionRecord.ts'],
      pure: ['proxy/wire/sessionRecord.ts', 'proxy/wire/listRecord.ts'],
    },
    {
      room: 'postgres',
      purpose:
        'The store on PostgreSQL: the engine, its reader, the move of a SQLite file to it. Loaded for such a store alone.',
      begin: 'postgresStore.ts',
      next: ['pgTarget.ts', 'pgLedger.ts'],
    },
    {
      room: 'incident',
      purpose: 'What happened around a session or a call, gathered from the store; its folder, written and read.',
      begin: 'incident.ts',
      next: ['gather.ts', 'incidentFiles.ts', 'readIncident.ts'],
    },
    {
      room: 'workflow',
      purpose: 'Plans worked off item by item, by one agent after another.',
      begin: 'workflow.ts',
      next: ['run.ts', 'itemWork.ts'],
    },
    {
      room: 'otel',
      purpose: 'Spans and metrics by OpenTelemetry, for a host that asks for them. The entry `unwedge/otel`.',
      begin: 'withTelemetry.ts',
      next: ['conventions.ts', 'spanTracer.ts', 'callSpan.ts'],
    },
  ],
  [
    {
      room: 'operator',
      purpose:
        'For commands and the dashboard: live gateways asked and ordered by their sockets, and what needs a person.',
      begin: 'askRuntimes.ts',
      next: ['needs.ts', 'giveOrder.ts'],
    },
    {
      room: 'proxy/acp',
      purpose:
        'The proxy of the Agent Client Protocol: what passes between an editor and its agent, and the end of each prompt.',
      begin: 'acpProxy.ts',
      next: ['prompts.ts', 'replay.ts'],
    },
    {
      room: 'proxy/hub',
      purpose: 'Several MCP servers as one: names, lists, and which server a message is for.',
      begin: 'mcpHub.ts',
      next: ['hubMember.ts', 'hubLists.ts'],
    },
    {
      room: 'proxy/http',
      purpose:
        'A server on stdio offered by Streamable HTTP: sessions, their streams, what is kept of them, one server for many.',
      begin: 'mcpHttp.ts',
      next: ['httpSession.ts', 'sharedServer.ts'],
    },
    {
      room: 'proxy/boundary',
      purpose: 'The own side of an MCP server: error boundary, process, records. The entry `unwedge/mcp-server`.',
      begin: 'superviseMcpServer.ts',
    },
    {
      room: 'agents/codex',
      purpose: 'The client of the app-server of Codex: threads, turns, approvals.',
      begin: 'codex.ts',
      next: ['codexServer.ts', 'codexThread.ts'],
      pure: ['agents/codex/protocol/'],
    },
  ],
  [
    {
      room: 'web/dashboard',
      purpose:
        'The dashboard: what is shown of live gateways, their machines and their database, its server, its page. The entry `unwedge/inspect`.',
      begin: 'server.ts',
      next: ['databaseSource.ts', 'snapshot.ts'],
    },
    {
      room: 'agents/conversation',
      purpose: 'Conversations with Claude and Codex through one interface, with fallback.',
      begin: 'agent.ts',
      next: ['agentConversation.ts', 'agentBackend.ts'],
    },
    {
      room: 'proxy/mcp',
      purpose: 'The MCP proxy: what passes between a client and its server, and what does not.',
      begin: 'mcpProxy.ts',
      next: ['clientCalls.ts', 'serverReplacement.ts'],
    },
    {
      room: 'proxy/api',
      purpose: 'The proxy of a model API: requests that are sent again, streams that end as their client can use it.',
      begin: 'apiProxy.ts',
      next: ['exchange.ts', 'forwarding.ts'],
    },
    {
      room: 'incident/replay',
      purpose: 'An incident played on a simulated clock, by the real call path, and compared with what is on record.',
      begin: 'replay.ts',
      next: ['plan.ts', 'replayedIntegration.ts', 'compare.ts'],
    },
  ],
  [
    {
      room: 'agents/claude',
      purpose: '`createClaude`: a gateway with one command, for those who run `claude`.',
      begin: 'claude.ts',
    },
    {
      room: 'web/serve',
      purpose:
        'A gateway as a process: sessions by HTTP over configured servers, agents and hooks. For `unwedge serve` alone.',
      begin: 'serve.ts',
      next: ['routeTable.ts', 'handlers.ts', 'sessionHost.ts'],
    },
    {
      room: 'testing',
      purpose:
        'What tests of users need: a simulated clock, seeded chance, faulty servers. The entry `unwedge/testing`.',
      begin: 'index.ts',
    },
  ],
  [
    { room: 'testing/demo', purpose: 'The fault tour and its upstreams.', begin: 'tour.ts' },
    {
      room: 'install',
      purpose:
        'Puts unwedge in front of what agents have configured: their files, the change, the way back. For `unwedge install` alone.',
      begin: 'install.ts',
      next: ['fileJob.ts', 'planFile.ts', 'wrapFile.ts'],
    },
  ],
  [
    {
      room: 'cli',
      purpose: 'The command line: one folder or file a command.',
      begin: 'main.ts',
      next: ['command.ts', 'commandIndex.ts'],
    },
  ],
];

const table = floors.flatMap((rooms, floor) => rooms.map((each) => ({ ...each, floor })));

/** The room of a file or folder, paths from the root; undefined when there is none. */
export function roomOf(path) {
  return table
    .filter(({ room }) => path === room || path.startsWith(`${room}/`))
    .sort((a, b) => b.room.length - a.room.length)[0];
}

/** @param {string} file - from the root. @returns what it imports: paths from the root and names of packages, types and imports on use included. */
function importsOf(file, words = /(?:\bfrom |\bimport |\bimport\()'([^']+)'/g) {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(words)]
    .map(([, named, typed]) => named ?? typed)
    .map((path) => (path.startsWith('.') ? posix.join(posix.dirname(file), path) : `package ${path}`));
}

/** Packages that plain functions over plain data do without; a hash is one. */
const impure = /^package (xstate|node:(?!crypto$)|execa)/;

/** The folders that the source is in: the core, and what is outside of it. */
export const tops = [...new Set(table.map(({ room }) => room.split('/')[0]))].sort();

/** All source files, paths from the root. */
export function sourceFiles() {
  return tops.flatMap((top) =>
    readdirSync(join(root, top), { recursive: true })
      .map((path) => `${top}/${path.replaceAll('\\', '/')}`)
      .filter((path) => /\.tsx?$/.test(path)),
  );
}

/** The source that a test file is named after. */
export function sourceOfTest(path) {
  const file = path.replace(/^test\//, '').replace(/(\.slow)?\.test\.ts$/, '.ts');
  return tops.includes(file.split('/')[0]) ? file : `src/${file}`;
}

/** The engine on PostgreSQL, which core and reader load when it is asked for, by the file that does. */
const loadedFromOutside = { 'src/store/openStore.ts': 'postgres/', 'reader/openReader.ts': 'postgres/' };

/** Rooms that read the engines of the store: the reader, and the move of one to another. */
const maySeeEngines = /^(postgres|reader)\//;

/** Each import that the table forbids, and each file that is in no room; empty when all is well. */
export function forbiddenImports() {
  return sourceFiles().flatMap((file) => {
    const from = roomOf(file);
    if (from === undefined) return [`${file} is in no room`];
    const isPure = (path) => from.pure === true || from.pure?.some((part) => path.startsWith(part)) === true;
    return importsOf(file)
      .filter((path) => {
        if (path.startsWith('package ')) return isPure(file) && impure.test(path);
        const to = roomOf(path);
        if (to === undefined) return true;
        if (to.room === from.room) return isPure(file) && !isPure(path);
        if (path.startsWith(loadedFromOutside[file])) return false;
        const isClosed =
          to.closed?.some((folder) => path.startsWith(`${folder}/`)) === true && !maySeeEngines.test(file);
        return to.floor >= from.floor || isClosed;
      })
      .map((path) => `${file} imports ${path}`);
  });
}

/** Where the source outside of the core takes from the core what is neither a face nor an entry, nor loaded on use. */
export function pastTheFaces() {
  return sourceFiles()
    .filter((file) => !file.startsWith('src/'))
    .flatMap((file) =>
      importsOf(file, /(?:\bfrom |\bimport )'([^']+)'|\bimport\('([^']+)'\)\.[A-Z]/g)
        .filter((path) => /^src\/(?!index\.ts|config\/index\.ts|.*\bface\.ts)/.test(path))
        .map((path) => `${file} imports ${path}`),
    );
}

/** Where the core imports a face: what it needs itself it takes from where that stands. */
export function facesSeenWithin() {
  return sourceFiles().filter(
    (file) => file.startsWith('src/') && importsOf(file).some((path) => path.endsWith('/face.ts')),
  );
}

function readmeText({ room, purpose, begin, next = [], floor }) {
  const top = `${'../'.repeat(room.split('/').length)}docs/design.md#rooms`;
  return [
    `# ${room}`,
    '',
    purpose,
    '',
    `Begin with ${[begin, ...next]
      .map((file) => `[${file}](${file})`)
      .join(', ')
      .replace(', ', ', then ')}.`,
    '',
    floor === 0
      ? `The ground floor of [the rooms](${top}): it imports from no other room.`
      : `Floor ${floor} of [the rooms](${top}): it may import from the floors below, the highest of which has ${floors[floor - 1].map((other) => other.room).join(', ')}.`,
    '',
  ].join('\n');
}

function picture() {
  const lines = floors.map((rooms) => `  ${rooms.map(({ room }) => room).join('   ')}`).reverse();
  const rows = table.map(({ room, purpose, begin }) =>
    room.endsWith('.ts') ? `| [${room}](../${room}) | ${purpose} |` : `| [${room}](../${room}/${begin}) | ${purpose} |`,
  );
  return ['```text', ...lines, '```', '', '| room, and where to begin | what it is for |', '|---|---|', ...rows].join(
    '\n',
  );
}

const marks = ['<!-- rooms: made by scripts/rooms.mjs -->', '<!-- /rooms -->'];

function designText() {
  const text = readFileSync(join(root, 'docs/design.md'), 'utf8');
  const [start, end] = marks.map((mark) => text.indexOf(mark));
  if (start < 0 || end < start) throw new Error(`docs/design.md has no place for the picture: ${marks.join(' … ')}`);
  return `${text.slice(0, start + marks[0].length)}\n${picture()}\n${text.slice(end)}`;
}

/** What is made of the table: path and text of each file. */
export function made() {
  return [
    ['docs/design.md', designText()],
    ...table.filter(({ room }) => !room.endsWith('.ts')).map((each) => [`${each.room}/README.md`, readmeText(each)]),
  ];
}

/** Those of {@link made} that are not what the table says. */
export function outdated() {
  return made().filter(
    ([path, text]) => !existsSync(join(root, path)) || readFileSync(join(root, path), 'utf8') !== text,
  );
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const files = outdated();
  for (const [path, text] of files) writeFileSync(join(root, path), text);
  console.log(files.length === 0 ? 'nothing to write' : `written: ${files.map(([path]) => path).join(', ')}`);
}
