import { commandIndex } from './commandIndex.ts';
import { loadCommand } from './commands.ts';
import { errorReport } from './errorReport.ts';
import { isOwnError, UsageError } from './errors.ts';
import { type Command, flag } from './command.ts';
import { commandHelp, overview } from './help.ts';
import type { Io } from './io.ts';
import { ownVersion } from './doctor/ownVersion.ts';
import { parseWords, splitCommand, takesCommand } from './parse.ts';
import { wrapLines } from './text.ts';
import { toJson } from './sanitize.ts';
import { told } from './ownCommand.ts';
import { unloadedCode } from './unloaded.ts';

/**
 * Runs one command line and gives its exit code: that of the command, 2 for wrong usage, 1 for what could not be done.
 * Never throws: an error is one line on stderr, a bug its stack.
 */
export async function runCommandLine(words: readonly string[], io: Io): Promise<number> {
  try {
    if (words.length > 0) return await dispatch(words, io);
    io.stderr.write(await (await import('./here.ts')).hereText(io));
    return 2;
  } catch (error) {
    io.stderr.write(wrapLines(`unwedge: ${told(errorReport(error), io)}`.split('\n'), io.errorColumns ?? Infinity));
    return isOwnError(error, 'UsageError') ? 2 : unloadedCode(words[commandIndex(words)]);
  }
}

async function dispatch(words: readonly string[], io: Io): Promise<number> {
  const at = commandIndex(words);
  const name = words[at];
  const others = words.toSpliced(at, 1);
  if (name === undefined) return runBare(others, io);
  if (name === 'help') return runHelp(others, io);
  const command = await loadCommand(name);
  if (command.errorCode === undefined) return runCommand(command, others, io);
  try {
    return await runCommand(command, others, io);
  } catch (error) {
    io.stderr.write(wrapLines(`unwedge: ${told(errorReport(error), io)}`.split('\n'), io.errorColumns ?? Infinity));
    return command.errorCode;
  }
}

async function runCommand(command: Command, words: readonly string[], io: Io): Promise<number> {
  const { own, rest } = splitCommand(command, words);
  const hint = takesCommand(command) ? '; the command comes after --' : '';
  const parsed = parseWords(command.options, own, `unwedge ${command.name} --help`, command.operands, hint);
  if (!parsed.help) return command.run(parsed.args, io, rest);
  io.stdout.write(commandHelp(command, { json: parsed.json, columns: io.columns }));
  return 0;
}

/** Options of `unwedge` without a command. */
export const bareOptions = { version: flag('print the version and exit', 'v') } as const;

function runBare(words: readonly string[], io: Io): number {
  const parsed = parseWords(bareOptions, words, 'unwedge --help');
  if (parsed.help) io.stdout.write(overview({ json: parsed.json, columns: io.columns }));
  else if (parsed.args.version)
    io.stdout.write(parsed.args.json ? toJson({ version: ownVersion() }) : `${ownVersion()}\n`);
  else throw new UsageError('No command given; see `unwedge --help`');
  return 0;
}

async function runHelp(words: readonly string[], io: Io): Promise<number> {
  const at = commandIndex(words);
  const topic = words[at];
  const parsed = parseWords({}, words.toSpliced(at, 1), 'unwedge --help');
  const json = parsed.help ? parsed.json : parsed.args.json;
  const style = { json, columns: io.columns };
  io.stdout.write(topic === undefined ? overview(style) : commandHelp(await loadCommand(topic), style));
  return 0;
}
