import { ResultFiles, resultsDirectory } from '../src/store/face.ts';
import { databasePlace } from './databasePath.ts';
import { dbWords, shellWord } from '../src/policy/text/face.ts';
import { defineCommand, flag } from './command.ts';
import { readDatabase } from './database.ts';
import { CommandError } from './errors.ts';
import { giveAndSay, reasonOption } from './orders.ts';
import { sanitize } from './sanitize.ts';

export const command = defineCommand({
  usage: 'forget SESSION [--yes] [--close] [--reason TEXT] [--json] [--db FILE]',
  details: [
    'Erases all that is kept of a session: messages, tool calls with their answers, what was spent, events. It says what there is and asks; without a',
    'terminal it needs --yes, and else erases nothing and exits 1. One that is under way is refused; --close ends it first, and gives up what waits. A gateway that has it lets go of',
    'it before. Transcripts of agents, incident folders and backups are files of yours.',
  ].join('\n'),
  options: {
    yes: flag('do not ask'),
    close: flag('end what is under way, and give up what waits'),
    ...reasonOption,
  },
  operands: ['SESSION'],
  choices: 'sessions',
  async run(args, io) {
    const { yes, close, reason, db } = args;
    const [name = ''] = args.operands;
    const forget = { order: 'forget', name, target: close ? 'close' : undefined, reason } as const;
    const erase = async (): Promise<number> => {
      const code = await giveAndSay(forget, args, io);
      new ResultFiles(resultsDirectory(databasePlace(db, io.env), io.env), io.now).forget(name);
      return code;
    };
    if (yes) return erase();
    const look = {
      order: 'forget',
      session: name,
      message: 'look',
      note: {},
      at: io.now(),
      dead: new Set<string>(),
    } as const;
    const { ok, text } = await readDatabase(db, io, (reader) => reader.orderAboutLetter(look));
    if (ok && /^y(?:es)?$/i.test((await io.ask?.(`${sanitize(text)}\nErase it? [y/N] `))?.trim() ?? '')) return erase();
    const next = ok ? ` Nothing was erased: \`unwedge forget ${shellWord(name)} --yes${dbWords(db)}\` does it.` : '';
    throw new CommandError(`${sanitize(text)}${next}`);
  },
});
