import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  askedAgain,
  endedBy,
  type NewQuestion,
  type Question,
  type QuestionEnd,
  type QuestionRecords,
} from '../../policy/records/question.ts';
import { fromJson, toJson } from '../../policy/text/storedJson.ts';
import { asTheyStand } from '../askers.ts';
import { insertInto, type Row, statement } from '../dialect.ts';
import { type Read, step, type Tables, type Work } from '../work.ts';

const order = { rank: 5 };
const asked = `id text, place text, waiter text, source text, asker text, session text, what text, detail text, form text,
  asked_at bigint, deadline_at bigint`;
const most = 1000;

const ask = statement(
  'ask_question',
  asked,
  insertInto('uw.question', asked, 'ON CONFLICT DO NOTHING', 'place'),
  order,
);
const lockBy = (column: 'id' | 'place') =>
  statement(
    `lock_question_by_${column}`,
    `${column} text`,
    `SELECT {w.ord, |}q.* FROM {w, |}uw.question q WHERE q.${column} = :${column} {ORDER BY q.place FOR UPDATE OF q|}`,
    order,
  );
const lock = lockBy('id');
const lockPlace = lockBy('place');
const change = statement(
  'change_question',
  'id text, waiter text, state text, answer text, ended_at bigint',
  `UPDATE uw.question AS q SET waiter = :waiter, state = :state, answer = :answer, ended_at = :ended_at
   {FROM w |}WHERE q.id = :id`,
  order,
);
const open = `SELECT * FROM uw.question WHERE state = 'open' ORDER BY asked_at, id LIMIT ${most}`;
const opens = statement('open_questions', '', open);
/** Ids are hexadecimal: what begins so comes before `g`. */
const named = statement(
  'questions_named',
  'prefix text',
  `SELECT * FROM uw.question WHERE id >= :prefix AND id < :prefix || 'g' ORDER BY id LIMIT 2`,
);

const ofTools = statement(
  'questions_of_tools',
  'asker text',
  `SELECT * FROM uw.question WHERE source = 'tool' AND asker = :asker ORDER BY asked_at DESC, id LIMIT ${most}`,
);

const makeSecret = statement(
  'make_secret',
  'name text, value text',
  insertInto('uw.secret', 'name text, value text', 'ON CONFLICT DO NOTHING', 'name'),
  order,
);
const secret = statement('secret', '', `SELECT value FROM uw.secret WHERE name = 'links'`);

/** An engine's questions, over its tables. */
export function questionRows(tables: Pick<Tables, 'transact' | 'read'>): QuestionRecords {
  return {
    ask: (question) => tables.transact(() => askInStore(question)),
    end: (id, end, wallNow) => tables.transact(() => endInStore(id, end, wallNow)),
    async sign(id) {
      const value = randomBytes(32).toString('base64url');
      await tables.transact(function* () {
        yield step(makeSecret, 'secret', { name: 'links', value });
      });
      const [row] = await tables.read(secret);
      return row && signature(row, id);
    },
    ...questionReads(tables.read),
  };
}

const signature = (row: Row | undefined, id: string): string =>
  createHmac('sha256', (row?.['value'] as string | undefined) ?? randomBytes(32))
    .update(`question ${id}`)
    .digest('base64url');

/** Finds the question of a link, however it ended; undefined for a signature that is not its own, which takes as long where there is no such question. */
export async function questionOfLink(read: Read, id: string, signed: string): Promise<Question | undefined> {
  const own = signature((await read(secret))[0], id);
  const [row] = await read(named, { prefix: id });
  if (!timingSafeEqual(digestOf(own), digestOf(signed)) || row?.['id'] !== id) return undefined;
  return (await asTheyStand([questionIn(row)]))[0];
}

/** Lists the questions of a server's tools, ended or not, the newest first. */
export const questionsOfTools = async (read: Read, asker: string): Promise<readonly Question[]> =>
  asTheyStand((await read(ofTools, { asker })).map(questionIn));

const digestOf = (text: string): Buffer => createHash('sha256').update(text).digest();

export const questionReads = (read: Read): Pick<QuestionRecords, 'open' | 'named'> => ({
  async open() {
    return (await asTheyStand((await read(opens)).map(questionIn))).filter(({ state }) => state === 'open');
  },
  named: async (prefix) => asTheyStand((await read(named, { prefix })).map(questionIn)),
});

function* askInStore(given: NewQuestion): Work<{ isNew: boolean; question: Question }> {
  const key = `question ${given.place}`;
  yield step(ask, key, { ...given, detail: given.detail && toJson(given.detail), form: toJson(given.form) });
  const [row] = yield step(lockPlace, key, given);
  const known: Question = row === undefined ? { ...given, state: 'open' } : questionIn(row);
  const question = known.id === given.id ? known : askedAgain(known, given);
  if (question !== known) yield step(change, key, rowOf(question));
  return { isNew: known.id === given.id || known.state !== question.state, question };
}

/** Ends a question, within one transaction. @returns undefined where there is none. */
export function* endInStore(
  id: string,
  end: QuestionEnd,
  wallNow: number,
): Work<{ isNew: boolean; question: Question } | undefined> {
  const [row] = yield step(lock, `question ${id}`, { id });
  if (row === undefined) return undefined;
  const ended = endedBy(questionIn(row), end, wallNow);
  if (ended !== undefined) yield step(change, `question ${id}`, rowOf(ended));
  return { isNew: ended !== undefined, question: ended ?? questionIn(row) };
}

const rowOf = ({ answer, ...question }: Question) => ({ ...question, answer: answer && toJson(answer) });

/** As a row holds it: what its columns hold is what was written. */
function questionIn(row: Row): Question {
  // A server adds the place of the row in its batch.
  const { ord: _, asked_at: askedAt, deadline_at: deadlineAt, ended_at: endedAt, ...others } = row;
  const { session, detail, form, answer, ...rest } = others;
  const read = (text: unknown) => (text === null ? undefined : fromJson(text)?.value);
  return {
    ...(rest as unknown as Question),
    ...{ session: (session ?? undefined) as string | undefined, detail: read(detail) },
    ...{ form: (read(form) ?? { is: 'decision' }) as Question['form'], answer: read(answer) as Question['answer'] },
    ...{ askedAt: Number(askedAt), deadlineAt: Number(deadlineAt) },
    endedAt: endedAt === null ? undefined : Number(endedAt),
  };
}

export function memoryQuestions(): QuestionRecords {
  const rows = new Map<string, Question>();
  const within = (find: (question: Question) => boolean) => [...rows.values()].filter(find);
  return {
    async ask(given) {
      const [known] = within(({ place }) => place === given.place);
      const [over] = rows.size < most ? [] : within(({ state }) => state !== 'open');
      if (known === undefined && rows.size >= most && !rows.delete(over?.id ?? '')) return undefined;
      const question: Question = known === undefined ? { ...given, state: 'open' } : askedAgain(known, given);
      rows.set(question.id, question);
      return { isNew: question.state !== known?.state, question };
    },
    async end(id, end, wallNow) {
      const known = rows.get(id);
      const ended = known && endedBy(known, end, wallNow);
      if (ended !== undefined) rows.set(id, ended);
      return known && { isNew: ended !== undefined, question: ended ?? known };
    },
    open: async () => within(({ state }) => state === 'open'),
    named: async (prefix) => within(({ id }) => id.startsWith(prefix)).slice(0, 2),
    // Nobody else could read its questions.
    sign: async () => undefined,
  };
}
