import { formatDuration } from '../../../src/policy/duration.ts';
import type { ClusterNode, ClusterSession, ClusterView } from '../../../src/store/storeReader.ts';
import { useAsked } from './asked.ts';
import { href } from './route.ts';
import { Table } from './table.tsx';
import { count } from './words.ts';

/** The gateways that share the database, what each owns, and what waits for whom. Nothing where it is the file of one machine. */
export function Cluster() {
  const { answer } = useAsked<Partial<ClusterView>>('/api/cluster', 1000);
  const { nodes, sessions = 0, waiting = [] } = answer ?? {};
  if (nodes === undefined) return null;
  return (
    <section class="box" aria-label="Gateways that share the database">
      <div class="sh">
        <h2>Cluster</h2>
        <span class="faint">
          {count(nodes.filter(isLive).length)} of {count(nodes.length)} gateways hold their lease. Sessions:{' '}
          {count(sessions)}
        </span>
      </div>
      <Table
        columns={[
          { title: 'Gateway' },
          { title: 'Host' },
          { title: 'Owns', isNumber: true },
          { title: 'Wants', isNumber: true },
          { title: 'Lease' },
          { title: 'Renews in', isNumber: true },
          { title: 'Up', isNumber: true },
        ]}
      >
        {nodes.map((node) => (
          <Node key={node.id} node={node} />
        ))}
      </Table>
      {waiting.length > 0 && (
        <Table
          columns={[
            { title: 'Session' },
            { title: 'Messages', isNumber: true },
            { title: 'Oldest', isNumber: true },
            { title: 'Fence', isNumber: true },
            { title: 'Owner' },
          ]}
        >
          {waiting.map((each) => (
            <Waiting key={each.session} session={each} owner={nodes.find(({ id }) => id === each.node)} />
          ))}
        </Table>
      )}
    </section>
  );
}

const isLive = ({ leaseLeftMs }: ClusterNode): boolean => leaseLeftMs > 0;

function Node({ node }: { readonly node: ClusterNode }) {
  const { name, host, pid, owned, wanted, leaseLeftMs, renewMs, upMs } = node;
  return (
    <tr data-row>
      <td>
        <bdi>{name}</bdi> <span class="faint">pid {pid}</span>
      </td>
      <td class="lb" data-l="Host">
        <bdi>{host}</bdi>
      </td>
      <td class="num" data-l="Owns">
        {count(owned)}
      </td>
      <td class="num" data-l="Wants">
        {count(wanted)}
      </td>
      <td class={`lb ${isLive(node) ? '' : 'bad'}`} data-l="Lease">
        {isLive(node) ? `${formatDuration(leaseLeftMs)} left` : `ran out ${formatDuration(-leaseLeftMs)} ago`}
      </td>
      <td class="num" data-l="Renews in">
        {formatDuration(renewMs)}
      </td>
      <td class="num" data-l="Up">
        {formatDuration(upMs)}
      </td>
    </tr>
  );
}

function Waiting({
  session: each,
  owner,
}: {
  readonly session: ClusterSession;
  readonly owner: ClusterNode | undefined;
}) {
  const { session, messages, oldestMs, fence } = each;
  return (
    <tr data-row>
      <td>
        <a href={href('sessions', session)}>
          <bdi>{session}</bdi>
        </a>
      </td>
      <td class="num" data-l="Messages">
        {count(messages)}
      </td>
      <td class="num" data-l="Oldest">
        {formatDuration(oldestMs)}
      </td>
      <td class="num" data-l="Fence">
        {count(fence)}
      </td>
      <td class={`lb ${owner === undefined ? 'bad' : ''}`} data-l="Owner">
        {owner === undefined ? 'nobody' : `${owner.name} (${owner.host}, pid ${owner.pid})`}
      </td>
    </tr>
  );
}
