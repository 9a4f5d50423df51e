import type { AgentOption } from '../../protocol/agentCommand.ts';
import { type OwnProfiles, agentNames } from '../../protocol/agents/profiles.ts';
import type { PromptBy } from '../../actors/prompt/promptDelivery.ts';
import {
  commandKeys,
  commandRule,
  graceMs,
  maxOutputBytes,
  type CommandOptions,
  type SubprocessInput,
} from '../../machines/subprocessInput.ts';
import { effects } from '../../policy/effects.ts';
import { AttemptError } from '../../policy/failures/failure.ts';
import {
  boolean,
  choice,
  integer,
  type Given,
  list,
  test,
  text,
  type Values,
} from '../../policy/options/optionKeys.ts';
import { policyKey } from '../../policy/policyInput.ts';
import { readOptions } from '../../policy/options/readOptions.ts';
import { reconcileKey } from '../../policy/reconcileRule.ts';
import { spinningKey } from '../../policy/spinning/spinningRule.ts';
import { show } from '../../policy/text/showValue.ts';

/** The options of a command. */
const ownSubprocessKeys = {
  /** Longest line of a stream, in bytes, at least 1; a longer one ends the run (`message_too_large`). @defaultValue 10,000,000 */
  maxLineBytes: integer({ unit: 'bytes', default: 10_000_000 }),
  /** Takes silence for no sign of trouble: switches the no-output limit off. @defaultValue false; true for agents that print at their end alone */
  printsOnlyAtEnd: boolean(),
  /** Its limits, retries and circuit breaker. @defaultValue preset `subprocess`; for agents `claudeCli` and `codex` */
  policy: policyKey,
  /** Effect of its runs on the world, where the call does not say. @defaultValue unspecified */
  effect: choice(effects),
  /**
   * Agent whose output it is: the command line of an agent is judged by its own word on its end (`--output-format json` or `stream-json`, `--json`,
   * `--format json`), not by its exit code. `auto` tells by the command and its arguments. One of `agentProfiles` has its name there.
   * @defaultValue 'auto'
   */
  agent: text({ given: {} as AgentOption }),
  /**
   * Way of the prompt of a run to the command. `stdin`: on stdin. As a file: a private file, whose path replaces `{promptFile}` in the arguments. As an
   * argument: in place of `{prompt}`, up to 10,000 bytes. A longer prompt goes by stdin, and so does one that begins with a dash: the command would take it
   * for an option.
   * @defaultValue what the arguments have a placeholder for, else 'stdin'
   */
  promptBy: choice(['stdin', 'file', 'argument'], { given: {} as PromptBy }),
  /** Step to which it goes against calls that an agent repeats without progress, where its output tells them. @defaultValue 20 equal failures end a run */
  spinning: spinningKey,
  /** Takes exit 0 with nothing on stdout for a failure (`unknown`, `empty_response`). @defaultValue false; true for agents */
  expectsOutput: boolean(),
  /**
   * Rule that finds out what became of a run whose end is not known, before it is made again: a function, or a tool of another integration. A command has no
   * place for an idempotency key. @defaultValue nobody finds that out
   */
  reconcile: reconcileKey,
};

export const subprocessKeys = { ...commandKeys, graceMs, maxOutputBytes, ...ownSubprocessKeys };

/** The command, what it inherits, and how its output is judged. */
export interface SubprocessOptions
  extends CommandOptions,
    Pick<SubprocessInput, 'graceMs' | 'maxOutputBytes'>,
    Given<typeof ownSubprocessKeys> {}

/** {@link SubprocessOptions}, checked but for the policy, which is left to the one who resolves it. */
type CheckedSubprocess = Values<typeof subprocessKeys>;

/** @throws TypeError or RangeError that names the first wrong option and its value. */
export function checkSubprocessOptions(
  name: string,
  options: SubprocessOptions,
  own: OwnProfiles = {},
): CheckedSubprocess {
  const agent = choice(['auto', 'none', ...agentNames, ...Object.keys(own)]);
  return readOptions(name, options, { ...subprocessKeys, agent }, commandRule);
}

const runKeys = {
  /** Follow those of the integration. @defaultValue [] */
  args: list(text({ empty: true }), { expected: 'an array of strings' }),
  /** Written to the child, then closed. Without it the child's stdin is closed from the start. */
  stdin: test<string | Uint8Array>('a string or bytes', (value) =>
    typeof value === 'string' || value instanceof Uint8Array),
  /** @defaultValue the integration's */
  cwd: text(),
  /** Question to an agent; see {@link SubprocessOptions.promptBy}. Not together with `stdin` when it goes there. */
  prompt: text({ empty: true }),
};

/** A run of a subprocess integration. */
export interface RunRequest extends Given<typeof runKeys> {}

/**
 * A request may come from an agent: it says how the command is run, never which.
 * @throws {@link AttemptError} of kind `permanent` that names the first wrong field and its value.
 */
export function checkRunRequest(name: string, request: unknown): void {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw misuse(`Expected a run of ${name} to be an object, got ${show(request)}`);
  }
  const { args = [], cwd = '' } = readRun(request);
  // The command line cannot carry one; found here, it is the mistake of the caller and says nothing about the command.
  for (const [field, texts] of Object.entries({ args, cwd: [cwd] })) {
    if (texts.some((each) => each.includes('\0'))) throw misuse(`Expected \`${field}\` to be free of null bytes`);
  }
}

function readRun(request: object): Values<typeof runKeys> {
  try {
    return readOptions('', request, runKeys);
  } catch (error) {
    throw misuse((error as Error).message);
  }
}

function misuse(message: string): AttemptError {
  return new AttemptError({ kind: 'permanent', message, outcome: 'not_started' });
}
