import type { Form, OptionSpec } from '../command.ts';
import { command as events } from '../events.ts';
import { command as report } from '../report.ts';
import { command as restart } from '../restart.ts';
import { command as status } from '../status.ts';
import { command as why } from '../why.ts';

/** A command that an agent may use as a tool. */
export interface SelfTool {
  /** Name of the command, and of the tool. */
  readonly name: string;
  readonly form: Form;
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
    name: 'status',
    form: status,
    description:
      'How each supervised integration (MCP server, API, command, hook) is: what needs attention, open circuits with their cause and next try, ' +
      'success rate, last error. Ask this first when a tool fails or does not answer.',
    options: [],
    acts: false,
  },
  {
    name: 'why',
    form: why,
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
    name: 'events',
    form: events,
    description: 'What was recorded: failures, crashes, restarts, circuits, sessions; the newest last.',
    options: ['since', 'category', 'integration', 'session', 'failed', 'limit'],
    acts: false,
  },
  {
    name: 'report',
    form: report,
    description: 'How well each integration has worked: calls, success rate, kinds of failure, latency.',
    options: ['since', 'integration', 'tools'],
    acts: false,
  },
];

/** Act that an agent can do where its operator lets it. */
export const restartTool: SelfTool = {
  name: 'restart',
  form: restart,
  description:
    'Starts an MCP server, or a session, anew. Its calls in flight end with an error that says whether they may have taken effect. ' +
    'Only for what `status` shows as crashed, quarantined or stuck.',
  options: ['reason'],
  operand: { name: 'name', help: 'an integration or the id of a session, as `status` shows it' },
  acts: true,
};

/** A value of an input, as JSON Schema. */
interface ValueSchema {
  readonly type: 'boolean' | 'integer' | 'string' | 'array';
  readonly description: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly enum?: readonly string[];
  readonly default?: number;
  readonly items?: { readonly type: 'string' };
}

/** Returns the input of a tool, as JSON Schema. */
export function inputSchema({ form, options, operand }: SelfTool) {
  const properties: Readonly<Record<string, ValueSchema>> = {
    ...(operand !== undefined && { [operand.name]: { type: 'string', minLength: 1, description: operand.help } }),
    ...Object.fromEntries(options.map((name) => [name, schemaOf(specOf(form, name))])),
  };
  return {
    type: 'object',
    properties,
    required: operand === undefined || operand.optional === true ? [] : [operand.name],
    additionalProperties: false,
  };
}

/** The command line that an input stands for. A value is never taken for an option or a command. */
export function wordsOf(
  { name, options, operand, acts }: SelfTool,
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
  return [name, ...given, ...(typeof named === 'string' ? ['--', named] : [])];
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '');

function specOf(form: Form, name: string): OptionSpec {
  const spec = form.options[name];
  if (spec === undefined) throw new Error(`There is no option ${name}`);
  return spec;
}

function schemaOf(spec: OptionSpec): ValueSchema {
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

/** Names what of an input is not as {@link inputSchema} has it; undefined when all is. */
export function problemOf(tool: SelfTool, input: Readonly<Record<string, unknown>>): string | undefined {
  const { properties, required } = inputSchema(tool);
  const missing = required.find((name) => input[name] === undefined);
  if (missing !== undefined) return `${missing} is missing`;
  for (const [name, value] of Object.entries(input)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (schema === undefined) return `there is no ${name}; it takes ${Object.keys(properties).join(', ') || 'nothing'}`;
    const expected = misfit(schema, value);
    if (expected !== undefined) return `${name} is to be ${expected}`;
  }
  return undefined;
}

/** Tells what a value was to be that does not fit. */
function misfit({ type, minimum, maximum, minLength, enum: choices }: ValueSchema, value: unknown): string | undefined {
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'true or false';
    case 'integer':
      return Number.isInteger(value) && Number(value) >= Number(minimum) && Number(value) <= Number(maximum)
        ? undefined
        : `a whole number from ${minimum} to ${maximum}`;
    case 'array':
      return Array.isArray(value) && value.every((each) => typeof each === 'string') ? undefined : 'a list of texts';
    case 'string':
      if (typeof value !== 'string' || value.length < (minLength ?? 0)) return 'a text that is not empty';
      return choices === undefined || choices.includes(value) ? undefined : `one of ${choices.join(', ')}`;
  }
}
