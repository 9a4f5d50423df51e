import { formatDuration } from '../src/policy/duration.ts';
import { defineCommand } from './command.ts';
import { counted } from './counted.ts';
import { readDatabase } from './database.ts';
import { CommandError } from './errors.ts';
import type { ClusterNode, ClusterSession, ClusterView } from '../src/store/storeReader.ts';
import { createShownNames, withShownNames } from '../src/redaction/shownNames.ts';
import type { Io } from './io.ts';
import { sanitize, toJson } from './sanitize.ts';
import { createStyle } from './style.ts';
import { renderTable } from './table.ts';
import { wrapLines } from './wrap.ts';

/** A message that waits for so long without an owner is worth a word, in ms: a take-over is over by then. */
const worthSayingMs = 5_000;

export const cluster = defineCommand({
  name: 'cluster',
  summary: 'the gateways that share a PostgreSQL database: what each owns, and what waits for whom',
  usage: 'cluster [--json] [--db URL]',
  details: [
    'Each gateway holds a lease, which it renews three times in its life. A gateway whose lease ran out has lost its sessions: others take',
    'them. One that died is shown for a minute, and as long as nobody took what waits for its sessions. FENCE grows each time a session changes its owner; what an earlier owner still writes is refused by the database.',
    'Exit codes: 0, also where something waits; 1 the database cannot be read, or is the file of one machine.',
  ].join('\n'),
  options: {},
  async run(args, io) {
    const { path, view } = await readDatabase(args.db, io, async (reader) => ({
      path: reader.path,
      view: await reader.cluster(),
    }));
    if (view === undefined) {
      throw new CommandError(
        `${sanitize(path)} is the file of one machine: \`unwedge status\` shows its gateways. Several machines share a PostgreSQL database`,
      );
    }
    const shown = withShownNames(view, createShownNames());
    io.stdout.write(args.json ? toJson({ database: path, ...shown }) : clusterText(path, shown, io));
    return 0;
  },
});

function clusterText(path: string, view: ClusterView, io: Io): string {
  const { nodes, sessions, waiting } = view;
  const live = nodes.filter(isLive);
  const head = `${sanitize(path)}: ${counted(live.length, 'gateway')}, ${counted(sessions, 'session')}`;
  const words = attention(view);
  return [
    words.length === 0 ? '' : `${wrapLines(words, io.columns)}\n`,
    `${wrapLines([head], io.columns)}\n`,
    nodes.length === 0 ? 'No gateway has used it since it was made.\n' : nodeTable(nodes, io),
    waiting.length === 0 ? '' : `\n${sessionTable(view, io)}`,
  ].join('');
}

const isLive = ({ leaseLeftMs }: ClusterNode): boolean => leaseLeftMs > 0;

/** Lists what somebody should look at. */
function attention({ waiting }: ClusterView): readonly string[] {
  const left = waiting.filter(({ node, oldestMs }) => node === undefined && oldestMs >= worthSayingMs);
  const [oldest] = left;
  if (oldest === undefined) return [];
  const who = left.length === 1 ? `${oldest.session} has` : `${left.length} sessions have`;
  return [
    `! ${who} messages and no gateway; the oldest waits for ${formatDuration(oldest.oldestMs)}`,
    '  next: start a gateway that has them: gateway.session(id, …) or gateway.adoptSessions(…); or end them: unwedge letters',
  ];
}

function nodeTable(nodes: readonly ClusterNode[], io: Io): string {
  const { green, red } = createStyle(io);
  return renderTable(
    [
      { title: 'GATEWAY', hasNames: true },
      { title: 'HOST', hasNames: true },
      { title: 'PID', align: 'right' },
      { title: 'OWNS', align: 'right' },
      { title: 'WANTS', align: 'right', rank: 2 },
      { title: 'LEASE' },
      { title: 'RENEWS IN', align: 'right', rank: 1 },
      { title: 'UP', align: 'right', rank: 3 },
    ],
    nodes.map((node) => [
      node.name,
      node.host,
      String(node.pid),
      String(node.owned),
      String(node.wanted),
      isLive(node)
        ? { text: `${formatDuration(node.leaseLeftMs)} left`, paint: green }
        : { text: `ran out ${formatDuration(-node.leaseLeftMs)} ago`, paint: red },
      `${node.renewMs}ms`,
      formatDuration(node.upMs),
    ]),
    io.columns,
  );
}

function sessionTable({ nodes, waiting }: ClusterView, io: Io): string {
  const { red } = createStyle(io);
  const byId = new Map(nodes.map((node) => [node.id, `${node.name} (${node.host}, pid ${node.pid})`]));
  const ownerOf = ({ node }: ClusterSession) =>
    node === undefined ? { text: 'nobody', paint: red } : (byId.get(node) ?? node);
  return renderTable(
    [
      { title: 'SESSION', hasNames: true },
      { title: 'MESSAGES', align: 'right' },
      { title: 'OLDEST', align: 'right' },
      { title: 'FENCE', align: 'right', rank: 1 },
      { title: 'OWNER', stacks: true },
    ],
    waiting.map((each) => [
      each.session,
      String(each.messages),
      formatDuration(each.oldestMs),
      String(each.fence),
      ownerOf(each),
    ]),
    io.columns,
  );
}
