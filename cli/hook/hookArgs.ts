import { spinningChoices } from '../../src/policy/spinning/face.ts';
import { programFlaw } from '../../src/policy/text/face.ts';
import { commandKey } from '../../install/commandKey.ts';
import { knownWord, UsageError } from '../errors.ts';
import { parseWords } from '../parse.ts';
import { command as hook, missingCommand } from './command.ts';

/** Meaning of a failed hook for the question it is asked. */
export type OnFailure = 'allow' | 'block';

/** A hook as the command line gives it. */
export type HookArgs = NonNullable<ReturnType<typeof readHookArgs>>;

const choices: readonly OnFailure[] = ['allow', 'block'];

/**
 * Reads the words after `unwedge hook`; undefined when help is asked for.
 * @throws {@link UsageError} that names what is wrong.
 */
export function readHookArgs(words: readonly string[]) {
  const at = words.indexOf('--');
  const options = at < 0 ? words : words.slice(0, at);
  const [command, ...args] = at < 0 ? [] : words.slice(at + 1);
  // An option meant for the command tells less than that there is none; a wrong option of ours tells more.
  if (at < 0 && !options.some((word) => word.startsWith('-'))) throw new UsageError(missingCommand);
  const parsed = parseWords(hook.options, options, 'unwedge hook --help', [], '; the command comes after --');
  if (parsed.help) return undefined;
  const {
    timeout,
    'host-timeout': hostTimeout,
    name,
    db,
    'on-failure': onFailure = 'allow',
    'keep-background': keepBackground,
    inbox,
    guard,
    spinning,
  } = parsed.args;
  const choice = knownWord('value of --on-failure', onFailure, choices);
  if (timeout === 0) throw new UsageError('Expected `--timeout` to be above 0, got "0"');
  if (hostTimeout === 0) throw new UsageError('Expected `--host-timeout` to be above 0, got "0"');
  if (guard !== undefined) knownWord('value of --guard', guard, ['spinning']);
  if (guard !== undefined && at >= 0) throw new UsageError('Expected no command beside `--guard`, which needs none');
  if (guard === undefined && spinning !== undefined)
    throw new UsageError('Expected `--guard spinning` beside `--spinning`: a command of yours judges by itself');
  if (guard === undefined && (command === undefined || command === '')) throw new UsageError(missingCommand);
  if (guard !== undefined && inbox) throw new UsageError('Expected a command beside `--inbox`: no guard of ours asks');
  const flaw = command && programFlaw(command, 'the command after --');
  if (flaw !== undefined) throw new UsageError(flaw);
  return {
    /** Step to which the guard against repetition goes; undefined: the command is run. */
    spinning: guard && knownWord('value of --spinning', spinning ?? 'end', spinningChoices),
    command: command ?? '',
    args,
    /** Name that its failures are counted under, without the `hook:` before it. */
    name: name ?? guard ?? commandKey(command ?? '', args),
    /** Limit on the whole run, in ms; undefined: by the event. */
    timeoutMs: timeout,
    /** Time that the host waits for the hook, in ms; undefined: by its settings, else by the event. */
    hostTimeoutMs: hostTimeout,
    onFailure: choice,
    keepBackground,
    /** Has people answer where the hook says `ask`. */
    inbox,
    db,
  };
}
