import { defineCommand, flag } from './command.ts';
import { readDatabase } from './database.ts';
import { CommandError, UsageError } from './errors.ts';
import { noteOf, reasonOption } from './orders.ts';
import { quoted, sanitize, toJson } from './sanitize.ts';
import { counted, wrapLines } from './text.ts';

/** Lines of the difference of a tool that are shown unasked. */
const mostLines = 500;

export const command = defineCommand({
  usage: 'accept SERVER [TOOL] [OPTION...]',
  details: [
    'Shows how tools of an MCP server differ from what they were when they were first seen, or accepted last, and accepts them as they are now, once you say yes.',
    'Without TOOL all of them. A tool that `pin` holds is listed and called as it is now within a second, by every process on this database.',
    'A no is given by `unwedge inbox answer ID --deny`: the tool stays as it was. With TOOL one that was declined is accepted.',
  ].join('\n'),
  options: { yes: flag('do not ask'), all: flag('show all lines of a long difference'), ...reasonOption },
  operands: ['SERVER', '[TOOL]'],
  choices: 'integrations',
  async run({ operands: [server = '', tool], db, json, yes, all, reason }, io) {
    const asked = await readDatabase(db, io, (reader) => reader.toolQuestions(server));
    const about = asked.filter(({ detail }) => tool === undefined || fieldOf(detail, 'tool') === tool);
    // The last word may be a no, which is taken back for one tool.
    const declined = about.slice(0, tool === undefined ? 0 : 1).filter(({ answer }) => answer?.decision === 'decline');
    const found = [...declined, ...about.filter(({ state }) => state === 'open').toReversed()];
    const [first] = found;
    const whose = `${tool === undefined ? '' : `the tool ${quoted(tool)} of `}${quoted(server)}`;
    if (first === undefined) throw new CommandError(`Nothing of ${whose} waits to be accepted`);
    const shown = found.flatMap(({ what, detail }) => [what, ...linesIn(detail, all)]);
    if (!json) io.stdout.write(wrapLines(shown.map(sanitize), io.columns));
    if (!yes && io.ask === undefined) throw new UsageError('To accept it without a question: --yes');
    if (!yes && !/^y(?:es)?$/i.test(((await io.ask?.('Accept? [y/N] ')) ?? '').trim()))
      throw new CommandError('Nothing was accepted');
    const { by, why } = noteOf(reason);
    const answer = { decision: 'accept', reason: why, by, way: 'command' } as const;
    const ends = await readDatabase(db, io, async (reader) => {
      const done = [];
      for (const { id } of found) done.push({ question: id, ...(await reader.answerQuestion(id, answer, io.now())) });
      return done;
    });
    io.stdout.write(
      json
        ? toJson(ends)
        : wrapLines(
            ends.map(({ text }) => sanitize(text)),
            io.columns,
          ),
    );
    return ends.every(({ ok }) => ok) ? 0 : 1;
  },
});

function linesIn(detail: unknown, all: boolean): readonly string[] {
  const given = fieldOf(detail, 'lines');
  const lines = Array.isArray(given) ? given.map(String) : [];
  const more = all ? 0 : lines.length - mostLines;
  return more > 0 ? [...lines.slice(0, mostLines), `… and ${counted(more, 'more line')}, which --all shows`] : lines;
}

const fieldOf = (detail: unknown, name: 'tool' | 'lines'): unknown =>
  (detail as Readonly<Record<string, unknown>> | undefined)?.[name];
