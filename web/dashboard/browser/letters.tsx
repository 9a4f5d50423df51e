import type { DeadLetterRecord } from '../../../reader/storeReader.ts';
import { useAsked } from './asked.ts';
import { Box, To } from './box.tsx';
import { BulkBar, noPicked, Pick, useForgotten } from './bulkBar.tsx';
import { madeAgain, OrderButton } from './dialog.tsx';
import { type Column, Table } from './table.tsx';
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
  const told = letters.length >= mostTold ? `the newest ${count(mostTold)}` : count(letters.length);
  return (
    <Box title="Dead letters and messages set aside" note={letters.length > 0 ? `${told}, newest first` : undefined}>
      {letters.length === 0 ? (
        <p class="in dim">
          {answer === undefined ? ' ' : 'None: every message that was accepted was or will be processed.'}
        </p>
      ) : (
        <>
          <Orders letters={letters} />
          <Table
            columns={columns.filter(({ title }) => session === undefined || title !== 'Session')}
            rows={letters}
            keyOf={keyOf}
          />
        </>
      )}
    </Box>
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
          also: (keys) => madeAgain(keys.flatMap((key) => known.get(key)?.again ?? [])),
        },
        {
          ...{ order: 'drop', text: 'Drop', fits: all },
          after: ['cross', 'bad', 'They are never delivered, and cannot be sent again.'],
        },
      ]}
    />
  );
}

const aboutOf = ({ id, session, again }: DeadLetterRecord) =>
  ({ name: session, of: 'session', target: id, what: `${id} to ${session}`, again }) as const;

const columns: readonly Column<DeadLetterRecord>[] = [
  {
    title: 'Message',
    cell: (letter) => (
      <>
        <Pick picked={picked} of={keyOf(letter)} name={letter.id} />
        <bdi class="mono">{letter.id}</bdi> <span class="faint">{letter.kind}</span>
        {letter.text !== undefined && letter.text !== '' && <p class="dim wrap">“{letter.text}”</p>}
      </>
    ),
  },
  { title: 'Session', cell: ({ session }) => <To view="sessions" name={session} /> },
  { title: 'Why', look: 'dim', cell: ({ reason }) => reasons[reason] ?? reason },
  { title: 'Begun', isNumber: true, cell: ({ deliveries }) => count(deliveries) },
  { title: 'Since', look: 'lb', cell: ({ endedAt, postedAt }) => <Ago at={endedAt ?? postedAt} /> },
  {
    title: 'Actions',
    cell: (letter) => (
      <div class="acts">
        {letter.canSend && <OrderButton order="send_again" {...aboutOf(letter)} text="Send again…" />}
        <OrderButton order="drop" {...aboutOf(letter)} text="Drop…" />
      </div>
    ),
  },
];
