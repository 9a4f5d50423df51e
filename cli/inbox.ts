import { choicesText, type PersonAnswer, type Question, shownQuestion } from '../src/policy/records/face.ts';
import { commandAbout, dbWords, formatDuration } from '../src/policy/text/face.ts';
import { defineCommand, flag, text } from './command.ts';
import { readDatabase } from './database.ts';
import { CommandError, UsageError } from './errors.ts';
import { noteOf, reasonOption } from './orders.ts';
import { sanitize, toJson } from './sanitize.ts';
import { textBelow } from './table.ts';
import { ago, wrapLines } from './text.ts';
import { typed } from './ownCommand.ts';
import type { Io } from './io.ts';

/** Characters of an id that are shown: enough to name it. */
const shownId = 8;
/** Most lines of what is asked, and of the data that is shown beside it. */
const mostLines = 5;
const ways = { decision: '--allow', text: '--text TEXT', choice: '--text ID', fields: '--value JSON' } as const;

export const command = defineCommand({
  usage: 'inbox [answer ID] [OPTION...]',
  details: [
    'Lists the questions that agents and gateways ask people and that nobody has answered yet, the oldest first. With `answer ID` it answers one; the',
    'beginning of its id will do. The first answer counts: exits 1 where somebody was faster, or the time is over, and says who answered, and when.',
  ].join('\n'),
  options: {
    allow: flag('allow it: the answer is yes'),
    deny: flag('decline it: the answer is no'),
    text: text('TEXT', 'answer with this text, or the id of an option'),
    value: text('JSON', 'answer with fields, as JSON'),
    by: text('WHO', 'who answers; else the user who runs the command'),
    ...reasonOption,
  },
  operands: ['[answer]', '[ID]'],
  choices: ['answer'],
  async run({ operands: [verb, id], db, json, ...args }, io) {
    const answer = answerOf(args);
    if (verb === undefined) {
      if (answer !== undefined) throw new UsageError('An answer goes with `answer ID`');
      const now = io.now();
      const questions = (await readDatabase(db, io, (reader) => reader.questions())).filter(
        ({ deadlineAt }) => deadlineAt > now,
      );
      if (json) io.stdout.write(toJson(questions.map(shownQuestion)));
      else io.stdout.write(questions.length === 0 ? 'Nobody asks a person.\n' : listText(questions, now, db, io));
      return 0;
    }
    if (verb !== 'answer' || id === undefined) throw new UsageError('Expected `answer ID`, or nothing');
    if (answer === undefined) throw new UsageError('Expected one of --allow, --deny, --text and --value');
    const given = { ...answer, by: args.by?.trim() || answer.by };
    const {
      ok,
      because,
      text: said,
    } = await readDatabase(db, io, (reader) => reader.answerQuestion(id, given, io.now()));
    const way = because === 'unfit' && args.allow ? ' Answer it with --text or --value.' : '';
    if (!ok) throw new CommandError(sanitize(said) + way);
    io.stdout.write(json ? toJson({ question: id, text: said }) : wrapLines([sanitize(said)], io.columns));
    return 0;
  },
});

interface Given {
  readonly allow: boolean;
  readonly deny: boolean;
  readonly text: string | undefined;
  readonly value: string | undefined;
  readonly reason: string | undefined;
}

/** @throws UsageError for more than one answer. */
function answerOf({ allow, deny, text: said, value, reason }: Given): PersonAnswer | undefined {
  const given = [allow || undefined, deny || undefined, said, value].filter((each) => each !== undefined);
  if (given.length > 1) throw new UsageError('--allow, --deny, --text and --value exclude each other');
  if (given.length === 0) return undefined;
  const { by, why } = noteOf(reason);
  return { decision: deny ? 'decline' : 'accept', value: said ?? parsed(value), reason: why, by, way: 'command' };
}

function parsed(value: string | undefined): unknown {
  try {
    return value === undefined ? undefined : JSON.parse(value);
  } catch (error) {
    throw new UsageError('Expected `--value` to be JSON', { cause: error });
  }
}

function listText(questions: readonly Question[], now: number, db: string | undefined, io: Io): string {
  const width = io.columns;
  const blocks = questions.map((question) => {
    const { id, source, asker, session, what, detail, form, askedAt, deadlineAt } = question;
    const of = session === undefined || session === asker ? '' : ` for ${sanitize(session)}`;
    const left = formatDuration(deadlineAt - now);
    const head = `${id.slice(0, shownId)} ${sanitize(asker)}${of} asks since ${ago(askedAt, now)}, for ${left} more:`;
    const data = detail === undefined ? '' : sanitize(JSON.stringify(detail));
    const options = form.is === 'choice' ? sanitize(choicesText(form)) : '';
    const below = [sanitize(what), data, options].flatMap((text) => textBelow(text, width, mostLines));
    const answer = `unwedge inbox answer ${id.slice(0, shownId)} ${source === 'sign_in' ? '--deny' : ways[form.is]}${dbWords(db)}`;
    // How it differs is shown whole there.
    const next = `  ${typed(source === 'tool' ? commandAbout('accept', asker, dbWords(db)) : answer, io)}\n`;
    return `${wrapLines([head], width)}${below.map((line) => `${line}\n`).join('')}${next}`;
  });
  return blocks.join('');
}
