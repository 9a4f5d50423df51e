import { failureKinds, type FailureKind } from '../../policy/failures/failure.ts';
import { boolean, byName, choice, either, integer, list, section, text } from '../../policy/options/optionKeys.ts';
import type { AgentFormat, AgentProfile } from './profile.ts';
import { type KnownAgent, type OwnProfiles, agentNames, agentProfiles } from './profiles.ts';

const forms = ['text', 'json', 'stream-json'] as const satisfies readonly AgentFormat[];
const kinds = Object.keys(failureKinds) as readonly FailureKind[];
const texts = (help?: string) => list(text(), { expected: 'a list of texts', help });
const needed = (help: string) => list(text(), { expected: 'a list of texts', required: true, help });
const place = (help: string) => text({ help });

const formOf = (value: unknown): number =>
  Array.isArray(value) ? 3 : Math.max(0, ['boolean', 'string', 'number'].indexOf(typeof value));
const value = either<string | number | boolean | readonly string[]>(
  [boolean(), text(), integer({ min: 0 }), texts()],
  formOf,
  'a text, a number, a list of texts, or true or false',
);
const help = 'Values that fields must have, by place: dots join the names. `true` and `false`: it is there, or is not.';

const ruleKeys = {
  when: byName(value, { required: true, help }),
  each: place('List in the message whose elements are read instead of it.'),
  item: byName(value, { help: 'The same for an element of that list.' }),
  means: choice(['text', 'tool', 'result', 'failure', 'done', 'failed', 'ended', 'traffic'], {
    required: true,
    help: 'What it is: a piece of the answer, the call of a tool, the answer of one, why it fails, a good or bad end, an end that is good unless a failure was told, or only a sign that it lives.',
  }),
  text: texts('Places of the piece, of the answer of a tool, or of the failure in words; the first that is there.'),
  id: place('What pieces of one answer, or messages on one tool, have in common.'),
  name: place('Name of the tool.'),
  input: place('Arguments of the tool.'),
  fails: list(byName(value), {
    expected: 'a list of objects',
    help: 'Values by which the answer of a tool is a failure.',
  }),
  exit: place('Exit code of the tool: another one than 0 is a failure.'),
  count: place('Number of tools that were called.'),
  status: place('HTTP status of the failure.'),
  says: text({ help: 'The failure in words, where the message has none.' }),
  kind: choice(kinds, { help: 'Kind of the failure, where neither words nor status tell it.' }),
};

const messages = section(
  {
    rules: list(section(ruleKeys), { expected: 'a list of rules', required: true, help: 'What its messages mean.' }),
    session: place('The id of the session, in any message.'),
    spread: section({
      from: text({ required: true, help: 'List of a whole JSON value whose elements are read as messages.' }),
      as: text({ required: true, help: 'Name and type that they get.' }),
    }),
    toldLate: boolean({ help: 'Whether a tool is told of only when it is over.' }),
  },
  { help: 'How its output is read.' },
);

const profileKeys = {
  commands: needed('Names of its command, without folder and extension.'),
  like: choice(agentNames, { help: 'The agent whose profile holds for what is not said here.' }),
  title: text({ help: 'Its name for people.' }),
  packages: texts('Packages that `npx` and its kin run it from.'),
  provider: text({ help: 'Owner of its models, as OpenTelemetry names it.' }),
  headless: section(
    { words: needed('Arguments of which one has to be there.'), not: texts('Arguments of which none may be there.') },
    { help: 'Arguments by which it answers once and ends.' },
  ),
  formats: section(
    {
      options: texts('Options whose value chooses the form.'),
      values: byName(choice(forms, { help: 'The form, by the value of that option.' })),
      words: byName(choice(forms, { help: 'The form, by an argument that stands alone.' })),
      best: text({ help: 'Arguments to advise where another form does not tell enough.' }),
    },
    { help: 'Arguments that choose the form of its output.' },
  ),
  silentFormats: list(choice(forms), { expected: 'a list of forms', help: 'Forms that print nothing before the end.' }),
  output: section({ stream: messages, json: messages }, { help: 'Rules for what it prints, by its form.' }),
  errorTexts: list(section({ begins: text({ required: true }), ends: text({ required: true }) }), {
    expected: 'a list of texts with `begins` and `ends`',
    help: 'Texts of its own on a failure, in place of an answer.',
  }),
  errorLines: list(section({ begins: text({ required: true }), atExit0: boolean() }), {
    expected: 'a list of lines with `begins`',
    help: 'Lines on stderr that tell why it failed.',
  }),
  kinds: list(section({ pattern: text({ required: true }), kind: choice(kinds, { required: true }) }), {
    expected: 'a list of patterns with a kind',
    help: 'Texts of failures, and their kinds.',
  }),
  exits: choice(['signal', 'status'], {
    help: 'What an exit code is worth: 128+n is a signal, or it is an HTTP status modulo 256.',
  }),
  resume: section({ words: needed('Words before the id of a session that is gone on with.') }),
  retries: section(
    {
      kinds: list(choice(kinds), {
        expected: 'a list of kinds',
        required: true,
        help: 'Kinds of failures that it repeats.',
      }),
      except: texts('Texts of failures that it does not repeat.'),
      env: byName(text(), { help: 'Variables that bound it, where we may try again.' }),
    },
    { help: 'Failures that it repeats by itself, and the variables that bound it.' },
  ),
  readOnlyTools: texts('Names of its tools that only look.'),
  stop: section(
    {
      signal: choice(['SIGTERM', 'SIGINT'], { help: 'Signal that asks it to end.' }),
      leavesChildren: boolean({ required: true, help: 'Whether it leaves processes of its tools.' }),
    },
    { help: 'How it is asked to end.' },
  ),
};

/** Profile of an agent of the user's own. */
export interface AgentProfileOptions extends Omit<Partial<AgentProfile>, 'commands' | 'output' | 'acp'> {
  /** Names of its command, without folder and extension. */
  readonly commands: readonly string[];
  /** Agent whose profile holds for what is not said here. @defaultValue none */
  readonly like?: KnownAgent | undefined;
  /** Rules for what it prints, by its form. @defaultValue that of `like`, else text alone */
  readonly output?: Exclude<AgentProfile['output'], string> | undefined;
}

/** Profiles of agents of the user's own, by name. */
export const agentProfilesKey = byName(section(profileKeys, { given: {} as AgentProfileOptions, id: 'agentProfile' }), {
  default: {},
  help: 'Agents beside those that are known, by name: plain data on their command line and their output.',
});

/** Makes profiles of what was configured; what is not said is that of the agent which it is like. */
export function profilesFrom(given: Readonly<Record<string, AgentProfileOptions>> = {}): OwnProfiles {
  return Object.fromEntries(
    Object.entries(given).map(([name, { like, ...own }]) => {
      const base = like === undefined ? plain : agentProfiles[like];
      const said = Object.entries(own).filter(([, value]) => value !== undefined);
      return [name, { ...base, packages: [], title: name, ...Object.fromEntries(said) } as AgentProfile];
    }),
  );
}

const plain: Omit<AgentProfile, 'title' | 'commands'> = {
  headless: { words: ['-p', '--print', '--prompt', 'run', 'exec'] },
  output: {},
  stop: { leavesChildren: true },
};
