import type { PromptBy } from './actors/promptDelivery.ts';
import { checkSubprocess, type SubprocessInput } from './machines/subprocessInput.ts';
import { AttemptError } from './policy/failure.ts';
import { checkBoolean, checkKeys, checkOneOf, show } from './policy/options.ts';
import type { PolicyInput } from './policy/presets.ts';
import type { AgentOption } from './protocol/agentCommand.ts';

export interface SubprocessOptions
  extends Pick<
    SubprocessInput,
    'command' | 'args' | 'cwd' | 'env' | 'envMode' | 'envAllow' | 'graceMs' | 'maxOutputBytes'
  > {
  /** Whether silence is no sign of trouble: switches the no-output limit off. @defaultValue false; true for Claude but with `stream-json` */
  readonly printsOnlyAtEnd?: boolean | undefined;
  /** @defaultValue preset `subprocess`; for agents `claudeCli` and `codex` */
  readonly policy?: PolicyInput | undefined;
  /**
   * Whose output it is: an agent's command line is judged by its own protocol (`--output-format json` or `stream-json`,
   * `codex exec --json`), not by its exit code. `auto` tells by the command and its arguments.
   * @defaultValue 'auto'
   */
  readonly agent?: AgentOption | undefined;
  /**
   * How the prompt of a run reaches the command: on stdin, in a private file whose path replaces `{promptFile}` in the arguments,
   * or in place of `{prompt}` in them, up to 10,000 bytes; a longer one goes by stdin then, and so does
   * one that begins with a dash and would be taken for an option.
   * @defaultValue what the arguments have a placeholder for, else 'stdin'
   */
  readonly promptBy?: PromptBy | undefined;
  /** Whether exit 0 with nothing on stdout is a failure (`unknown`, `empty_response`). @defaultValue false; true for agents */
  readonly expectsOutput?: boolean | undefined;
}

/** One run of a subprocess integration. */
export interface RunRequest {
  /** Follow those of the integration. @defaultValue [] */
  readonly args?: readonly string[] | undefined;
  /** Written to the child, then closed. Without it the child's stdin is closed from the start. */
  readonly stdin?: string | Uint8Array | undefined;
  /** @defaultValue the integration's */
  readonly cwd?: string | undefined;
  /** What an agent is asked; see {@link SubprocessOptions.promptBy}. Not together with `stdin` when it goes there. */
  readonly prompt?: string | undefined;
}

const optionNames: readonly (keyof SubprocessOptions)[] = [
  'command',
  'args',
  'cwd',
  'env',
  'envMode',
  'envAllow',
  'graceMs',
  'maxOutputBytes',
  'printsOnlyAtEnd',
  'policy',
  'agent',
  'promptBy',
  'expectsOutput',
];

/** The policy is left to who resolves it. @throws TypeError or RangeError that names the first wrong option and its value. */
export function checkSubprocessOptions(name: string, options: SubprocessOptions): void {
  checkKeys(name, options, optionNames);
  checkSubprocess(options, `${name}.`);
  for (const flag of ['printsOnlyAtEnd', 'expectsOutput'] as const) {
    if (options[flag] !== undefined) checkBoolean(`${name}.${flag}`, options[flag]);
  }
  if (options.agent !== undefined) checkOneOf(`${name}.agent`, options.agent, ['auto', 'none', 'claude', 'codex']);
  if (options.promptBy !== undefined) checkOneOf(`${name}.promptBy`, options.promptBy, ['stdin', 'file', 'argument']);
}

type Check = readonly [what: string, holds: (value: unknown) => boolean];

const text: Check = ['a string', (value) => typeof value === 'string'];

const runFields: Readonly<Record<keyof RunRequest, Check>> = {
  args: [
    'an array of strings',
    (value) => Array.isArray(value) && value.every((each: unknown) => typeof each === 'string'),
  ],
  stdin: ['a string or bytes', (value) => typeof value === 'string' || value instanceof Uint8Array],
  cwd: ['a non-empty string', (value) => typeof value === 'string' && value !== ''],
  prompt: text,
};

/**
 * A request may come from an agent: it says how the command is run, never which.
 * @throws {@link AttemptError} of kind `permanent` that names the first wrong field and its value.
 */
export function checkRunRequest(name: string, request: unknown): void {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw misuse(`Expected a run of ${name} to be an object, got ${show(request)}`);
  }
  for (const [field, value] of Object.entries(request)) {
    if (!Object.hasOwn(runFields, field)) {
      throw misuse(`A run of ${name} takes ${Object.keys(runFields).join(', ')}; \`${field}\` is none of them`);
    }
    const [what, holds] = runFields[field as keyof RunRequest];
    if (value !== undefined && !holds(value)) throw misuse(`Expected \`${field}\` to be ${what}, got ${show(value)}`);
    // The command line cannot carry one; found here, it is the mistake of who asks and says nothing about the command.
    if ((field === 'args' || field === 'cwd') && [value].flat().some(hasNull))
      throw misuse(`Expected \`${field}\` to be free of null bytes`);
  }
}

const hasNull = (text: unknown): boolean => typeof text === 'string' && text.includes('\0');

function misuse(message: string): AttemptError {
  return new AttemptError({ kind: 'permanent', message, outcome: 'not_started' });
}
