import { parsedJson } from '../policy/text/parsedJson.ts';
import { recordIn } from './agentReport.ts';
import { canBlock } from './hookEvents.ts';

/** Answer of a command hook, as its host is to take it. */
export interface CommandHookAnswer {
  /** `block`: what the event is about does not happen. */
  readonly decision: 'block' | 'continue';
  readonly reason?: string | undefined;
  /** `"continue": false`: the agent is to stop altogether, for this reason. */
  readonly stop?: { readonly reason: string } | undefined;
  /** Decision of the hook about a permission; `ask` leaves it to the user, `defer` to the host. */
  readonly permission?: 'allow' | 'deny' | 'ask' | 'defer' | undefined;
  /** Replaces the input of the tool. */
  readonly updatedInput?: Readonly<Record<string, unknown>> | undefined;
  /** For the model. */
  readonly additionalContext?: string | undefined;
  /** For people. */
  readonly systemMessage?: string | undefined;
  readonly suppressOutput?: boolean | undefined;
  /** It goes on in the background: what it says later reaches nobody. */
  readonly background?: boolean | undefined;
  /** The JSON as it came, with fields that are not known here. */
  readonly output?: Readonly<Record<string, unknown>> | undefined;
}

/** End that a command hook came to by itself. */
interface CommandHookEnd {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** True where the end of its output is not known. @defaultValue false */
  readonly isCut?: boolean | undefined;
}

/** An answer, or why what the hook said counts as a failure of the hook. */
type CommandHookVerdict =
  | { readonly ok: true; readonly answer: CommandHookAnswer }
  | { readonly ok: false; readonly message: string };

/** Events whose plain stdout is context for the model. */
const contextEvents = ['UserPromptSubmit', 'SessionStart'];
/** Exit code of a block. */
export const blockExitCode = 2;

/** Tells what a command hook says by its end: exit 0 goes on, 2 blocks with stderr as the reason, another is a failure. */
export function judgeCommandHook(event: string, end: CommandHookEnd): CommandHookVerdict {
  const { exitCode, stdout, stderr, isCut = false } = end;
  if (exitCode === blockExitCode) return { ok: true, answer: blocked(event, stderr.trim() || undefined) };
  if (exitCode !== 0) return failed(stderr.trim() === '' ? `It exited with ${exitCode}` : stderr.trim());
  const text = stdout.trim();
  if (isCut && !isWholeObject(text)) return failed(cutOutput);
  // Text that is not meant to be JSON is text.
  if (!text.startsWith('{')) return { ok: true, answer: plain(event, text) };
  const value = parsedJson(text);
  if (value === undefined) {
    // The announcement of a background hook is a line of its own; text may follow.
    if (readBackground(text) !== undefined) return { ok: true, answer: { decision: 'continue', background: true } };
    return failed('Its output starts like JSON and is none');
  }
  return readOutput(event, value as Record<string, unknown>);
}

/** Message on a hook whose answer may be half of one. */
const cutOutput =
  'It exited with 0, and a process that it left behind holds its output: the end of its answer was not read';

/** An object that is whole needs no end of a stream: more text behind it would be none of it. */
function isWholeObject(text: string): boolean {
  if (!text.startsWith('{')) return false;
  const value = parsedJson(text);
  return value === undefined ? readBackground(text) !== undefined : recordIn(value) !== undefined;
}

/** A hook that goes on in the background. */
export interface Background {
  /** Time that it may go on, in ms, if it says. */
  readonly limitMs: number | undefined;
}

/** Reads what the first line of a hook's stdout says about going on in the background; undefined when it does not. Never throws. */
export function readBackground(stdout: string): Background | undefined {
  const [line = ''] = stdout.trimStart().split('\n', 1);
  if (!line.startsWith('{') || !line.includes('"async"')) return undefined;
  const { async: background, asyncTimeout } = recordIn(parsedJson(line)) ?? {};
  if (background !== true) return undefined;
  return { limitMs: typeof asyncTimeout === 'number' && asyncTimeout > 0 ? asyncTimeout : undefined };
}

function plain(event: string, text: string): CommandHookAnswer {
  const isContext = text !== '' && contextEvents.includes(event);
  return { decision: 'continue', additionalContext: isContext ? text : undefined };
}

function blocked(event: string, reason: string | undefined): CommandHookAnswer {
  return { decision: canBlock(event) ? 'block' : 'continue', reason };
}

function readOutput(event: string, output: Record<string, unknown>): CommandHookVerdict {
  const problem = problemOf(output, outputFields) ?? problemOf(specific(output), specificFields, 'hookSpecificOutput.');
  if (problem !== undefined) return failed(`Its JSON is not as documented: ${problem}`);
  if (output['async'] === true) return { ok: true, answer: { decision: 'continue', background: true, output } };

  const details = specific(output);
  const request = recordIn(details['decision']);
  const permission = permissionOf(output, details, request);
  const stop = output['continue'] === false ? { reason: text(output['stopReason']) ?? 'stopped by a hook' } : undefined;
  const blocks = stop !== undefined || output['decision'] === 'block' || permission === 'deny';
  const reason =
    stop?.reason ??
    text(details['permissionDecisionReason']) ??
    text(request?.['message']) ??
    text(output['reason']) ??
    text(output['stopReason']);
  return {
    ok: true,
    answer: {
      ...(blocks ? blocked(event, reason) : { decision: 'continue', reason }),
      stop,
      permission,
      updatedInput: recordIn(details['updatedInput']) ?? recordIn(request?.['updatedInput']),
      additionalContext: text(details['additionalContext']),
      systemMessage: text(output['systemMessage']),
      suppressOutput: output['suppressOutput'] === true,
      output,
    },
  };
}

/** A deny wins over whatever else it says. */
function permissionOf(
  output: Record<string, unknown>,
  details: Record<string, unknown>,
  request: Record<string, unknown> | undefined,
): CommandHookAnswer['permission'] {
  const said = [details['permissionDecision'], request?.['behavior']];
  if (said.includes('deny')) return 'deny';
  const found = permissions.find((permission) => said.includes(permission));
  return found ?? (output['decision'] === 'approve' ? 'allow' : undefined);
}

type Field = readonly [what: string, fits: (value: unknown) => boolean];

const permissions = ['allow', 'deny', 'ask', 'defer'] as const;
const isText: Field = ['a string', (value) => typeof value === 'string'];
const isFlag: Field = ['true or false', (value) => typeof value === 'boolean'];
const isRecord: Field = ['an object', (value) => recordIn(value) !== undefined];
const isOneOf = (...choices: readonly string[]): Field => [
  `one of ${choices.join(', ')}`,
  (value) => choices.some((choice) => choice === value),
];

/** Fields that carry a decision: one that cannot be read must not pass for none. Unknown fields pass. */
const outputFields: Readonly<Record<string, Field>> = {
  continue: isFlag,
  stopReason: isText,
  suppressOutput: isFlag,
  systemMessage: isText,
  decision: isOneOf('approve', 'block'),
  reason: isText,
  hookSpecificOutput: isRecord,
};

const specificFields: Readonly<Record<string, Field>> = {
  hookEventName: isText,
  permissionDecision: isOneOf(...permissions),
  permissionDecisionReason: isText,
  additionalContext: isText,
  updatedInput: isRecord,
  decision: [
    'an object with behavior allow or deny',
    (value) => ['allow', 'deny'].some((behavior) => behavior === recordIn(value)?.['behavior']),
  ],
};

function problemOf(record: Record<string, unknown>, fields: Readonly<Record<string, Field>>, prefix = '') {
  for (const [name, [what, fits]] of Object.entries(fields)) {
    const value = record[name];
    if (value !== undefined && value !== null && !fits(value)) return `${prefix}${name} is not ${what}`;
  }
  return undefined;
}

function specific(output: Record<string, unknown>): Record<string, unknown> {
  return recordIn(output['hookSpecificOutput']) ?? {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function failed(message: string): CommandHookVerdict {
  return { ok: false, message };
}

/** Request that is written to the stdin of a command hook. */
interface CommandHookRequest {
  readonly event: string;
  /** The tool's name, for events of tools. */
  readonly action?: string | undefined;
  readonly session?: string | undefined;
  /** An object's fields stand beside the others, as in `{ tool_input, transcript_path }`. */
  readonly payload?: unknown;
}

/**
 * The request as one JSON object. The event's own names win over fields of the payload.
 * @throws what JSON.stringify throws for a payload it cannot write.
 */
export function commandHookInput({ event, action, session, payload }: CommandHookRequest, cwd: string): string {
  const fields = recordIn(payload) ?? (payload === undefined ? {} : { payload });
  return JSON.stringify({
    cwd,
    ...fields,
    ...(action === undefined ? {} : { tool_name: action }),
    ...(session === undefined ? {} : { session_id: session }),
    hook_event_name: event,
  });
}
