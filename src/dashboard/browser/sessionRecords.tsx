import type { SessionDetail } from '../snapshot.ts';
import { href } from './route.ts';
import { Table } from './table.tsx';
import { Ago, Countdown } from './times.tsx';

/** Shows the waiting records of a session. */
export function SessionRecords({ records, why }: Pick<SessionDetail, 'records' | 'why'>) {
  if (records === undefined) return null;
  const { messages, calls } = records;
  const nothing = messages.length + calls.length === 0;
  return (
    <section class="box" aria-label="On record">
      <div class="sh">
        <h2>On record</h2>
        <span class="faint">messages that wait, calls without a result</span>
      </div>
      {nothing && <p class="in dim">Nothing waits and nothing is pending.</p>}
      {messages.length > 0 && (
        <Table
          columns={[
            { title: 'Message' },
            { title: 'Kind' },
            { title: 'State' },
            { title: 'Begun', isNumber: true },
            { title: 'Accepted' },
          ]}
        >
          {messages.map(({ id, kind, state, deliveries, postedAt }) => (
            <tr key={id}>
              <td class="mono">
                <bdi>{id}</bdi>
              </td>
              <td>
                <bdi>{kind}</bdi>
              </td>
              <td>{state === 'taken' ? 'in its turn' : 'waits'}</td>
              <td class="num" data-l="Begun">
                {deliveries}
              </td>
              <td class="lb" data-l="Accepted">
                <Ago at={postedAt} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {why === undefined && calls.length > 0 && (
        <Table
          columns={[
            { title: 'Call' },
            { title: 'Integration' },
            { title: 'Tool' },
            { title: 'Started' },
            { title: 'Due' },
          ]}
        >
          {calls.map(({ call, integration, tool, startedAt, deadlineAt }) => (
            <tr key={call}>
              <td class="mono">
                <bdi>{call}</bdi>
              </td>
              <td>
                <a class="link" href={href('integrations', integration)}>
                  <bdi>{integration}</bdi>
                </a>
              </td>
              <td>
                <bdi>{tool}</bdi>
              </td>
              <td class="lb" data-l="Started">
                <Ago at={startedAt} />
              </td>
              <td class="lb" data-l="Due in">
                <Countdown at={deadlineAt} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
