import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import { commandWords } from './commandWords.ts';

/** Signals that end a service: the command gets them as it would if it had been started in our place. */
const passed = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR2'] as const;
/** Signals of the keyboard: a terminal gives them to the command itself. */
const ofKeyboard: ReadonlySet<string> = new Set(['SIGINT', 'SIGQUIT']);
/** Exit codes of a shell for a command that is not there, and for one that may not be run. */
const missingCode = 127;
const refusedCode = 126;

/**
 * Runs the command that a wrapper is given as if the wrapper were not there: its input and output, its signals, its end. For `UNWEDGE=off`; uses nothing of
 * the runtime, which may be what is wrong.
 * @returns false where a wrapper has no command of its own to hand over to: one for a URL or several servers.
 */
export async function handOver(verb: string, words: readonly string[]): Promise<boolean> {
  const given = await commandWords(verb, words);
  if (given === undefined) return false;
  const [command, ...args] = given.words;
  // A guard of ours has no command: an agent that is told nothing goes on.
  if (command === undefined) process.exit(0);
  const input = given.input === undefined ? 'inherit' : openSync(given.input, 'r');
  const child = spawn(command, args, { stdio: [input, 'inherit', 'inherit'] });
  if (input !== 'inherit') closeSync(input);
  for (const signal of passed)
    process.on(signal, () => {
      if (!(ofKeyboard.has(signal) && process.stdin.isTTY)) child.kill(signal);
    });
  child.once('error', ({ code, message }: NodeJS.ErrnoException) => {
    process.stderr.write(`unwedge: ${command} could not be started: ${message}\n`);
    process.exit(code === 'ENOENT' ? missingCode : refusedCode);
  });
  child.once('close', (code, signal) => {
    if (signal === null) process.exit(code ?? 0);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
    // Ours ends by it too, unless it is one that ends nothing here.
    process.exitCode = 128 + constants.signals[signal];
  });
  return true;
}
