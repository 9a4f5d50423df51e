import { BulkOrder } from '../operator/bulkOrder.ts';
import { systemClock } from '../src/runtime/face.ts';
import type { OrderResult } from '../src/policy/face.ts';
import { dbWords, nearestId, optionWords } from '../src/policy/text/face.ts';
import type { DeadLetterRecord } from '../reader/storeReader.ts';
import { defineCommand, flag, text } from './command.ts';
import { readDatabase } from './database.ts';
import { CommandError, UsageError } from './errors.ts';
import type { Io } from './io.ts';
import { give, giveAndSay, reasonOption } from './orders.ts';
import { quoted, sanitize, toJson } from './sanitize.ts';
import { silenceText, silentRuntimes } from './silentRuntimes.ts';
import { runtimesOf, withLastSigns } from '../operator/unlisted.ts';
import { ago, wrapLines, counted } from './text.ts';
import { typed } from './ownCommand.ts';

export const command = defineCommand({
  usage: 'letters [SESSION] [--send ID | --drop ID | --send-all [--yes]] [--reason TEXT] [--json] [--db FILE]',
  details: [
    'Lists dead letters, the newest first: of a message that its gateway died of too often (poison), that waited too long (expired), that cannot',
    'be read (malformed), or that waited as its session was closed (closed); on PostgreSQL also messages for sessions that no gateway has',
    '(untaken). --send has one delivered again as a new message, once; --send-all all that are listed, two a second until Ctrl-C. The gateway',
    'that has the session does it; without one it is done in the database, and delivered at the next start. The sender of an untaken message',
    'that is dropped is told. A letter that was begun is answered as before what it called once (`once`, a reconcile rule, an idempotency key);',
    'other calls may be made again: --send-all names those and asks where there may be any, and without a terminal needs --yes then.',
  ].join('\n'),
  options: {
    send: text('ID', 'send this dead letter again'),
    drop: text('ID', 'drop this dead letter for good'),
    'send-all': flag('send all that are listed again, two a second'),
    yes: flag('with --send-all: do not ask'),
    ...reasonOption,
  },
  operands: ['[SESSION]'],
  choices: 'sessions',
  async run(args, io) {
    const { send, drop, reason, json, db } = args;
    const [session] = args.operands;
    if ([send !== undefined, drop !== undefined, args['send-all']].filter(Boolean).length > 1)
      throw new UsageError('--send, --drop and --send-all exclude each other');
    const target = send ?? drop;
    if (target !== undefined) {
      const name = session ?? sessionOf(target);
      return giveAndSay({ order: send === undefined ? 'drop' : 'send_again', name, target, reason }, args, io);
    }
    const found = await readDatabase(db, io, (reader) => reader.deadLetters(session));
    if (found.length === 0 && session !== undefined) await refuseUnknown(session, db, io);
    if (args['send-all']) return sendAll(found, { reason, json, db, yes: args.yes }, io);
    if (json) {
      io.stdout.write(toJson(found));
      return 0;
    }
    const runtimes = await readDatabase(db, io, async (reader) =>
      withLastSigns(await runtimesOf(reader, io.now()), reader),
    );
    const silent = await silentRuntimes(runtimes, io, args.db);
    io.stdout.write(`${silenceText(silent, io)}${lettersText(found, db, io)}`);
    return 0;
  },
});

/** @throws CommandError that names the nearest session where there is none of this id. */
async function refuseUnknown(session: string, db: string | undefined, io: Io): Promise<void> {
  const { path, ids, records } = await readDatabase(db, io, async (reader) => ({
    path: reader.path,
    ids: await reader.sessionIds(),
    records: await reader.session(session),
  }));
  if (records !== undefined) return;
  const near = nearestId(session, ids);
  const guess = near === undefined ? '' : ` Did you mean ${quoted(near)}?`;
  throw new CommandError(`No session ${quoted(session)} in ${sanitize(path)}.${guess}`);
}

/** @throws UsageError for what is no id of a message. */
function sessionOf(message: string): string {
  const session = /^(.+)-[mx]\d+$/s.exec(message)?.[1];
  if (session === undefined)
    throw new UsageError(`Expected the id of a message, such as agent:main-m12, got ${sanitize(message)}`);
  return session;
}

interface SendAll {
  readonly reason: string | undefined;
  readonly json: boolean;
  readonly db: string | undefined;
  readonly yes: boolean;
}

/** Names what may be made again, and asks. @throws UsageError where there is nobody to ask. */
async function isWanted(letters: readonly DeadLetterRecord[], io: Io): Promise<boolean> {
  // Of one that was begun once, its last turn made all that there is.
  const begun = letters.filter(({ deliveries, again }) => deliveries > 1 || (deliveries > 0 && again.length > 0));
  if (begun.length === 0) return true;
  const again = [...new Set(begun.flatMap((letter) => letter.again))].toSorted();
  const calls = again.length === 0 ? 'no call of a last turn' : sanitize(again.join(', '));
  const told = `${counted(begun.length, 'letter')} of ${letters.length} begun before, what may be made again: ${calls}`;
  if (io.ask === undefined) throw new UsageError(`${told}. To send all without a question: --yes`);
  return /^y(?:es)?$/i.test((await io.ask(`${told}.\nSend ${letters.length} again? [y/N] `)).trim());
}

async function sendAll(
  found: readonly DeadLetterRecord[],
  { reason, json, db, yes }: SendAll,
  io: Io,
): Promise<number> {
  // The oldest first, as they came.
  const orders = found.filter(({ canSend }) => canSend).toReversed();
  if (!yes && !(await isWanted(orders, io))) throw new CommandError('Nothing was sent again');
  const bulk = new BulkOrder(
    orders.map(({ session: name, id: target }) => ({ order: 'send_again', name, target, by: '' })),
    {
      clock: systemClock,
      give: ({ name, target }): Promise<OrderResult> => give({ order: 'send_again', name, target, reason }, db, io),
      progressed: ({ done, failed, total, state }) => {
        if (state === 'running') io.stderr.write(`unwedge: ${done + failed} of ${total}\n`);
      },
    },
  );
  io.signal.addEventListener('abort', () => bulk.stop(), { once: true });
  const ended = await bulk.ended;
  const { done, failed, total, lastError } = ended;
  io.stdout.write(json ? toJson(ended) : `${done} of ${total} sent again.\n`);
  if (failed > 0) throw new CommandError(`${failed} were not sent again; the last: ${sanitize(lastError ?? '')}`);
  return 0;
}

/** @param db - what `--db` was given, so that the commands look at the same database. */
function lettersText(found: readonly DeadLetterRecord[], db: string | undefined, io: Io): string {
  if (found.length === 0) return 'No dead letters.\n';
  const [now, width] = [io.now(), io.columns];
  const at = dbWords(db);
  const blocks = found.map(({ id, kind, reason, deliveries, postedAt, text, canSend }) => {
    const begun = deliveries === 0 ? '' : `, begun ${counted(deliveries, 'time')}`;
    const said = text === undefined ? '' : `: ${sanitize(text.slice(0, 80))}`;
    const about = `${sanitize(id)} (${sanitize(kind)}) ${sanitize(reason)}, accepted ${ago(postedAt, now)}${begun}${said}`;
    const order = (name: 'send' | 'drop'): string => {
      const option = optionWords(name, id);
      // `--json` has its id in full.
      return option === '' ? `unwedge letters --json${at}` : `unwedge letters${option}${at}`;
    };
    // Commands stay whole, so that they can be copied.
    const orders = [...(canSend ? [order('send')] : []), order('drop')];
    return `${wrapLines([about], width)}${orders.map((each) => `  ${typed(each, io)}\n`).join('')}`;
  });
  const why = [...new Set(found.map(({ reason }) => reason))]
    .map((reason) => reasons[reason])
    .filter((each) => each !== undefined);
  return `${blocks.join('')}\n${wrapLines(why, width)}`;
}

/** Meanings of reasons for those who decide. */
const reasons: Readonly<Record<string, string>> = {
  poison:
    'poison: its process died each time it was begun, of it or of another message that was under way; send it again once that is mended, or drop it.',
  expired: 'expired: it waited too long to be delivered; send it again if it is still wanted, or drop it.',
  closed: 'closed: it waited when its session was closed; send it again if it is still wanted, or drop it.',
  malformed: 'malformed: it cannot be read, and can only be dropped.',
  untaken: 'untaken: no gateway has its session; start one that has it and it is delivered, or drop it.',
};
