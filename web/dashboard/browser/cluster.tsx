import { formatDuration } from '../../../src/policy/text/face.ts';
import type { ClusterNode, ClusterSession, ClusterView } from '../../../reader/storeReader.ts';
import { useAsked } from './asked.ts';
import { Box, To } from './box.tsx';
import { type Column, Table } from './table.tsx';
import { count } from './words.ts';

/** The gateways that share the database, what each owns, and what waits for whom. Nothing where it is the file of one machine. */
export function Cluster() {
  const { answer } = useAsked<Partial<ClusterView>>('/api/cluster', 1000);
  const { nodes, sessions = 0, waiting = [] } = answer ?? {};
  if (nodes === undefined) return null;
  const held = `${count(nodes.filter(isLive).length)} of ${count(nodes.length)} gateways hold their lease.`;
  const owned = waiting.map((each) => ({ ...each, owner: nodes.find(({ id }) => id === each.node) }));
  return (
    <Box label="Gateways that share the database" title="Cluster" note={`${held} Sessions: ${count(sessions)}`}>
      <Table columns={nodeColumns} rows={nodes} keyOf={({ id }) => id} />
      {waiting.length > 0 && <Table columns={waitingColumns} rows={owned} keyOf={({ session }) => session} />}
    </Box>
  );
}

const isLive = ({ leaseLeftMs }: ClusterNode): boolean => leaseLeftMs > 0;

const nodeColumns: readonly Column<ClusterNode>[] = [
  {
    title: 'Gateway',
    cell: ({ name, pid }) => (
      <>
        <bdi>{name}</bdi> <span class="faint">pid {pid}</span>
      </>
    ),
  },
  { title: 'Host', look: 'lb', cell: ({ host }) => <bdi>{host}</bdi> },
  { title: 'Owns', isNumber: true, cell: ({ owned }) => count(owned) },
  { title: 'Wants', isNumber: true, cell: ({ wanted }) => count(wanted) },
  {
    title: 'Lease',
    look: (node) => (isLive(node) ? 'lb' : 'lb bad'),
    cell: ({ leaseLeftMs: left }) =>
      left > 0 ? `${formatDuration(left)} left` : `ran out ${formatDuration(-left)} ago`,
  },
  { title: 'Renews in', isNumber: true, cell: ({ renewMs }) => formatDuration(renewMs) },
  { title: 'Up', isNumber: true, cell: ({ upMs }) => formatDuration(upMs) },
];

const waitingColumns: readonly Column<ClusterSession & { readonly owner: ClusterNode | undefined }>[] = [
  { title: 'Session', cell: ({ session }) => <To view="sessions" name={session} look="" /> },
  { title: 'Messages', isNumber: true, cell: ({ messages }) => count(messages) },
  { title: 'Oldest', isNumber: true, cell: ({ oldestMs }) => formatDuration(oldestMs) },
  { title: 'Fence', isNumber: true, cell: ({ fence }) => count(fence) },
  {
    title: 'Owner',
    look: ({ owner }) => (owner === undefined ? 'lb bad' : 'lb'),
    cell: ({ owner }) => (owner === undefined ? 'nobody' : `${owner.name} (${owner.host}, pid ${owner.pid})`),
  },
];
