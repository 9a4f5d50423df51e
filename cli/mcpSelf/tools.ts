import type { Command, OptionSpec } from '../command.ts';
import { events } from '../events.ts';
import { report } from '../report.ts';
import { restart } from '../restart.ts';
import { status } from '../status.ts';
import { why } from '../why.ts';

/** A command that an agent may use as a tool. */
export interface SelfTool {
  readonly command: Command;
  /** Said to the model: what the answer tells, and when to ask. */
  readonly description: string;
  /** The options of the command that it offers, by name. */
  readonly options: readonly string[];
  /** The one operand of the command, as the input names it, and what it is. */
  readonly operand?: { readonly name: string; readonly help: string; readonly optional?: boolean } | undefined;
  /** True where it changes something. */
  readonly acts: boolean;
}

/** Questions that an agent can ask; none of it changes anything. */
export const questions: readonly SelfTool[] = [
  {
    command: status as Command,
    description:
      'How each supervised integration (MCP server, API, command, hook) is: what needs attention, open circuits with their cause and next try, ' +
      'success rate, last error. Ask this first when a tool fails or does not answer.',
    options: [],
    acts: false,
  },
  {
    command: why as Command,
    description:
      'What a session waits for at this moment, how long it has waited, and which limit ends the wait when. Ask this before you give up on a call. ' +
      'Without a session: every session that waits and every circuit that is not closed.',
    options: [],
    operand: {
      name: 'session',
      help: 'the id of the session, as `status` and `events` show it; without it all that waits is listed',
      optional: true,
    },
    acts: false,
  },
  {
    command: events as Command,
    description: 'What was recorded: failures, crashes, restarts, circuits, sessions; the newest last.',
    options: ['since', 'category', 'integration', 'session', 'failed', 'limit'],
    acts: false,
  },
  {
    command: report as Command,
    description: 'How well each integration has worked: calls, success rate, kinds of failure, latency.',
    options: ['since', 'integration', 'tools'],
    acts: false,
  },
];

/** Act that an agent can do where its operator lets it. */
export const restartTool: SelfTool = {
  command: restart as Command,
  description:
    'Starts an MCP server, or a session, anew. Its calls in flight end with an error that says whether they may have taken effect. ' +
    'Only for what `status` shows as crashed, quarantined or stuck.',
  options: ['reason'],
  operand: { name: 'name', help: 'an integration or the id of a session, as `status` shows it' },
  acts: true,
};

/** Returns the input of a tool, as JSON Schema. */
export function inputSchema({ command, options, operand }: SelfTool): Record<string, unknown> {
  const offered = options.map((name) => [name, schemaOf(specOf(command, name))]);
  return {
    type: 'object',
    properties: {
      ...(operand === undefined ? {} : { [operand.name]: { type: 'string', minLength: 1, description: operand.help } }),
      ...Object.fromEntries(offered),
    },
    required: operand === undefined || operand.optional === true ? [] : [operand.name],
    additionalProperties: false,
  };
}

/** The command line that an input stands for. A value is never taken for an option or a command. */
export function wordsOf(
  { command, options, operand, acts }: SelfTool,
  input: Readonly<Record<string, unknown>>,
): string[] {
  // The record has to tell what an agent did from what a person did.
  const said = acts ? { ...input, reason: `by an agent: ${textOf(input['reason']) || 'it gave no reason'}` } : input;
  const given = options.flatMap((name) => {
    const values: readonly unknown[] = [said[name]].flat();
    return values.flatMap((value) => {
      if (value === true) return [`--${name}`];
      return typeof value === 'string' || typeof value === 'number' ? [`--${name}=${value}`] : [];
    });
  });
  const named = operand === undefined ? undefined : input[operand.name];
  return [command.name, ...given, ...(typeof named === 'string' ? ['--', named] : [])];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

function specOf(command: Command, name: string): OptionSpec {
  const spec = command.options[name];
  if (spec === undefined) throw new Error(`${command.name} has no option ${name}`);
  return spec;
}

function schemaOf(spec: OptionSpec): Record<string, unknown> {
  const description = spec.help;
  switch (spec.kind) {
    case 'flag':
      return { type: 'boolean', description };
    case 'count':
      return { type: 'integer', minimum: 1, maximum: spec.max, default: spec.defaultValue, description };
    case 'duration':
      return { type: 'string', description: `${description}; as 30s, 5m, 1h, 7d` };
    case 'text':
      return { type: 'string', description, ...(Array.isArray(spec.choices) ? { enum: spec.choices } : {}) };
    case 'list':
      return { type: 'array', items: { type: 'string' }, description };
  }
}
