import { defineCommand } from '../command.ts';
import { unknown, UsageError } from '../errors.ts';
import { scripts } from './scripts.ts';

/** `unwedge completion`: a script for a shell, and what that script asks at each press of the key. */
export const completion = defineCommand({
  name: 'completion',
  summary: 'let bash, zsh or fish complete commands, options, values and names',
  usage: 'completion (bash|zsh|fish | --suggest -- WORD...)',
  details: [
    'Prints a script for the shell. It asks unwedge for each completion, so that it knows the commands of the version that is installed, and',
    'names of integrations and sessions that the database has.',
    '',
    "  bash  echo 'source <(unwedge completion bash)' >> ~/.bashrc",
    "  zsh   echo 'source <(unwedge completion zsh)' >> ~/.zshrc",
    '  fish  unwedge completion fish > ~/.config/fish/completions/unwedge.fish',
    '',
    'With --suggest it prints, as the scripts ask it, what the last of the WORDs after -- may become, each on a line with what it is behind a tab.',
    'A last line of :files, :directories or :commands says that the shell adds its own.',
  ].join('\n'),
  takesCommand: true,
  ownsNoOutput: true,
  options: { suggest: { kind: 'flag', help: 'what a word may become' } },
  operands: ['[SHELL]'],
  choices: Object.keys(scripts),
  async run({ suggest, operands: [shell], db }, io, words) {
    if (suggest) {
      if (shell !== undefined) throw new UsageError('Option --suggest takes WORDs after -- and no SHELL');
      io.stdout.write(await (await import('./suggest.ts')).suggestionLines(words, db, io));
      return 0;
    }
    if (shell === undefined) throw new UsageError('Missing SHELL; it is one of bash, zsh, fish');
    const script = scripts[shell];
    if (script === undefined) throw unknown('shell', shell, Object.keys(scripts));
    io.stdout.write(script);
    return 0;
  },
});
