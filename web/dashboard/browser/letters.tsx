import type { DeadLetterRecord } from '../../../src/store/storeReader.ts';
import { useAsked } from './asked.ts';
import { BulkBar } from './bulkBar.tsx';
import { OrderButton } from './dialog.tsx';
import { noPicked, Pick, useForgotten } from './picked.tsx';
import { href } from './route.ts';
import { Table } from './table.tsx';
import { Ago } from './times.tsx';
import { count } from './words.ts';

const everyMs = 2000;
/** As many are told at a time. */
const mostTold = 500;

const reasons: Readonly<Record<string, string>> = {
  poison: 'set aside: its turn was cut too often by the end of its gateway',
  expired: 'set aside: it had waited too long',
  malformed: 'cannot be read',
  untaken: 'waits for a gateway that has its session: none has it',
};

/** Messages that nobody will process unless a person sends them again: of one session, or of all. Nothing where there are none. */
export function Letters({ session }: { readonly session?: string }) {
  const of = session === undefined ? '' : `?session=${encodeURIComponent(session)}`;
  const { answer, error } = useAsked<{ readonly letters: readonly DeadLetterRecord[] }>(`/api/letters${of}`, everyMs);
  const letters = answer?.letters ?? [];
  useForgotten(picked);
  if (error !== '') return <p class="bar bad">{error}</p>;
  if (letters.length === 0 && session !== undefined) return null;
  return (
    <section class="box" aria-label="Dead letters and messages set aside">
      <div class="sh">
        <h2>Dead letters and messages set aside</h2>
        {letters.length > 0 && (
          <span class="faint">
            {letters.length >= mostTold ? `the newest ${count(mostTold)}` : count(letters.length)}, newest first
          </span>
        )}
      </div>
      {letters.length > 0 && <Orders letters={letters} />}
      {letters.length === 0 ? (
        <p class="in dim">
          {answer === undefined ? ' ' : 'None: every message that was accepted was or will be processed.'}
        </p>
      ) : (
        <Table
          columns={[
            { title: 'Message' },
            ...(session === undefined ? [{ title: 'Session' }] : []),
            { title: 'Why' },
            { title: 'Begun', isNumber: true },
            { title: 'Since' },
            { title: 'Actions' },
          ]}
        >
          {letters.map((letter) => (
            <Letter key={keyOf(letter)} letter={letter} hasSession={session === undefined} />
          ))}
        </Table>
      )}
    </section>
  );
}

const picked = noPicked();
const keyOf = ({ session, id }: DeadLetterRecord): string => `${session} ${id}`;

/** Orders on those that are chosen, the oldest first, as they came. */
function Orders({ letters }: { readonly letters: readonly DeadLetterRecord[] }) {
  const oldest = letters.toReversed();
  const known = new Map(oldest.map((letter) => [keyOf(letter), letter]));
  const all = [...known.keys()];
  return (
    <BulkBar
      picked={picked}
      noun="dead letter"
      about={(key) => ({ name: known.get(key)?.session ?? '', target: known.get(key)?.id })}
      groups={[['all', all]]}
      choices={[
        {
          ...{ order: 'send_again', text: 'Send again' },
          fits: oldest.filter(({ canSend }) => canSend).map(keyOf),
          after: ['ok', 'ok', 'Each is delivered as a new message with the same content, once.'],
        },
        {
          ...{ order: 'drop', text: 'Drop', fits: all },
          after: ['cross', 'bad', 'They are never delivered, and cannot be sent again.'],
        },
      ]}
    />
  );
}

function Letter({ letter, hasSession }: { readonly letter: DeadLetterRecord; readonly hasSession: boolean }) {
  const { id, session, kind, reason, deliveries, postedAt, endedAt, text, canSend } = letter;
  const about = { name: session, of: 'session', target: id, what: `${id} to ${session}` } as const;
  return (
    <tr data-row>
      <td>
        <Pick picked={picked} of={keyOf(letter)} name={id} />
        <bdi class="mono">{id}</bdi> <span class="faint">{kind}</span>
        {text !== undefined && text !== '' && <p class="dim wrap">“{text}”</p>}
      </td>
      {hasSession && (
        <td>
          <a class="link" href={href('sessions', session)}>
            <bdi>{session}</bdi>
          </a>
        </td>
      )}
      <td class="dim">{reasons[reason] ?? reason}</td>
      <td class="num" data-l="Begun">
        {count(deliveries)}
      </td>
      <td class="lb" data-l="Since">
        <Ago at={endedAt ?? postedAt} />
      </td>
      <td data-l="Actions">
        <div class="acts">
          {canSend && <OrderButton order="send_again" {...about} text="Send again…" />}
          <OrderButton order="drop" {...about} text="Drop…" />
        </div>
      </td>
    </tr>
  );
}
