import { formatDuration } from '../src/policy/text/face.ts';
import { defineCommand } from './command.ts';
import { readDatabase } from './database.ts';
import { CommandError } from './errors.ts';
import type { ClusterNode, ClusterSession, ClusterView } from '../reader/storeReader.ts';
import { createShownNames, withShownNames } from '../src/redaction/face.ts';
import type { Io } from './io.ts';
import { sanitize, toJson } from './sanitize.ts';
import { figure, tableOf } from './table.ts';
import { counted, createStyle, wrapLines } from './text.ts';

/** A message that waits for so long without an owner is worth a word, in ms: a take-over is over by then. */
const worthSayingMs = 5_000;

export const command = defineCommand({
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
  const words = attention(view, io);
  return [
    words.length === 0 ? '' : `${wrapLines(words, io.columns)}\n`,
    `${wrapLines([head], io.columns)}\n`,
    nodes.length === 0 ? 'No gateway has used it since it was made.\n' : nodeTable(nodes, io),
    waiting.length === 0 ? '' : `\n${sessionTable(view, io)}`,
  ].join('');
}

const isLive = ({ leaseLeftMs }: ClusterNode): boolean => leaseLeftMs > 0;

/** Lists what somebody should look at. */
function attention({ waiting }: ClusterView, { own = 'unwedge' }: Io): readonly string[] {
  const left = waiting.filter(({ node, oldestMs }) => node === undefined && oldestMs >= worthSayingMs);
  const [oldest] = left;
  if (oldest === undefined) return [];
  const who = left.length === 1 ? `${oldest.session} has` : `${left.length} sessions have`;
  return [
    `! ${who} messages and no gateway; the oldest waits for ${formatDuration(oldest.oldestMs)}`,
    `  next: start a gateway that has them: gateway.session(id, …) or gateway.adoptSessions(…); or end them: ${own} letters`,
  ];
}

function nodeTable(nodes: readonly ClusterNode[], io: Io): string {
  const { green, red } = createStyle(io);
  return tableOf(nodes, io.columns, [
    { title: 'GATEWAY', hasNames: true, cell: ({ name }) => name },
    { title: 'HOST', hasNames: true, cell: ({ host }) => host },
    figure('PID', ({ pid }) => pid),
    figure('OWNS', ({ owned }) => owned),
    figure('WANTS', ({ wanted }) => wanted, 2),
    {
      title: 'LEASE',
      cell: (node) =>
        isLive(node)
          ? { text: `${formatDuration(node.leaseLeftMs)} left`, paint: green }
          : { text: `ran out ${formatDuration(-node.leaseLeftMs)} ago`, paint: red },
    },
    figure('RENEWS IN', ({ renewMs }) => `${renewMs}ms`, 1),
    figure('UP', ({ upMs }) => formatDuration(upMs), 3),
  ]);
}

function sessionTable({ nodes, waiting }: ClusterView, io: Io): string {
  const { red } = createStyle(io);
  const byId = new Map(nodes.map((node) => [node.id, `${node.name} (${node.host}, pid ${node.pid})`]));
  const ownerOf = ({ node }: ClusterSession) =>
    node === undefined ? { text: 'nobody', paint: red } : (byId.get(node) ?? node);
  return tableOf(waiting, io.columns, [
    { title: 'SESSION', hasNames: true, cell: ({ session }) => session },
    figure('MESSAGES', ({ messages }) => messages),
    figure('OLDEST', ({ oldestMs }) => formatDuration(oldestMs)),
    figure('FENCE', ({ fence }) => fence, 1),
    { title: 'OWNER', stacks: true, cell: ownerOf },
  ]);
}
