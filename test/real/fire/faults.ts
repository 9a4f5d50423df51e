import type { ModelAnswer } from '../../../testing/index.ts';

/** Text of the model, of words that are found again: how often the first one is shown is counted. */
export const mark = 'ONCE-7f3a';
const said = `${mark} upon a time there was a model that had eight more words.`;

/** A command in a tool of the agent. */
export interface Tool {
  /** It holds the processor with no other words in this place, unless it ends at once. */
  readonly command: string;
  /** The agent is told to ask first; the client answers so much later, in ms; `never`: it does not. */
  readonly answersAfterMs?: number | 'never';
}

/** Words that a running command begins with: nothing else in its place has them. */
export const running = 'tail -f /dev/null';
const forever: Tool = { command: running };
/** Longer than the idle limit behind us, and silent: nothing is wrong with that. */
const longMs = 14_000;
const long: Tool = { command: `timeout ${longMs / 1000} ${running} || true` };

/** What the client does once the prompt is under way. */
export type Act =
  | 'wait'
  | 'cancel'
  | 'cancel at once'
  | 'second prompt'
  | 'kill'
  | 'stop'
  | 'stop and cancel'
  | 'close stdin';

/** What a prompt may truthfully end with. */
export type Truth = 'done' | 'failed' | 'cancelled' | 'any';

/** A column of the matrix as data. */
export interface Fault {
  readonly name: string;
  /** As a person reads it. */
  readonly title: string;
  /** What the model does until the prompt has ended; afterwards it answers. */
  readonly model: ModelAnswer;
  /** The model calls a tool that runs a command. */
  readonly tool?: Tool;
  readonly act: Act;
  readonly truth: readonly Truth[];
  /** Time after the act, or the prompt, within which it has to have ended behind us, in ms beside the idle limit. */
  readonly withinMs: number;
  /** Whether a run without an editor is done with it. */
  readonly isHeadless?: boolean;
}

const silentInText: ModelAnswer = { text: said, until: 'text', then: 'stall' };

/** All columns. */
export const faults: readonly Fault[] = [
  {
    name: 'ok',
    title: 'all is well',
    model: { text: said },
    act: 'wait',
    truth: ['done'],
    withinMs: 20_000,
    isHeadless: true,
  },
  {
    name: 'key',
    title: 'wrong key (401)',
    model: { do: 'refuse', status: 401, error: 'authentication_error' },
    act: 'wait',
    truth: ['failed'],
    withinMs: 20_000,
  },
  {
    name: 'refused',
    title: 'refused (400)',
    model: { do: 'refuse', status: 400, error: 'invalid_request_error' },
    act: 'wait',
    truth: ['failed'],
    withinMs: 20_000,
    isHeadless: true,
  },
  {
    name: 'limited',
    title: 'overloaded (429, always)',
    model: { do: 'refuse', status: 429 },
    act: 'wait',
    truth: ['failed'],
    withinMs: 30_000,
  },
  {
    name: 'overload',
    title: 'overloaded (529, always)',
    model: { do: 'refuse', status: 529 },
    act: 'wait',
    truth: ['failed'],
    withinMs: 30_000,
    isHeadless: true,
  },
  {
    name: 'down',
    title: 'down (500, always)',
    model: { do: 'refuse', status: 500 },
    act: 'wait',
    truth: ['failed'],
    withinMs: 30_000,
  },
  {
    name: 'cut',
    title: 'cut in the text',
    model: { text: said, until: 'text', then: 'close' },
    act: 'wait',
    truth: ['failed'],
    withinMs: 30_000,
    isHeadless: true,
  },
  {
    name: 'cut before',
    title: 'cut before any text',
    model: { text: said, until: 'start', then: 'close' },
    act: 'wait',
    truth: ['failed'],
    withinMs: 30_000,
  },
  {
    name: 'silent',
    title: 'silent from the start',
    model: { do: 'hang' },
    act: 'wait',
    truth: ['failed'],
    withinMs: 10_000,
    isHeadless: true,
  },
  {
    name: 'silent in text',
    title: 'silent in the text',
    model: silentInText,
    act: 'wait',
    truth: ['failed'],
    withinMs: 10_000,
  },
  {
    name: 'cancel',
    title: 'silent, then cancelled',
    model: silentInText,
    act: 'cancel',
    truth: ['cancelled'],
    withinMs: 6_000,
  },
  {
    name: 'cancel at once',
    title: 'cancelled at once',
    model: { do: 'hang' },
    act: 'cancel at once',
    truth: ['cancelled'],
    withinMs: 6_000,
  },
  {
    name: 'second',
    title: 'second prompt while busy',
    model: { text: said, dripMs: 300 },
    act: 'second prompt',
    truth: ['done', 'failed'],
    withinMs: 30_000,
  },
  {
    name: 'killed',
    title: 'agent killed in the text',
    model: silentInText,
    act: 'kill',
    truth: ['failed'],
    withinMs: 6_000,
  },
  {
    name: 'stopped',
    title: 'agent stopped (SIGSTOP)',
    model: silentInText,
    act: 'stop',
    truth: ['failed'],
    withinMs: 10_000,
  },
  {
    name: 'stdin',
    title: 'stdin closed in the text',
    model: silentInText,
    act: 'close stdin',
    truth: ['any'],
    withinMs: 6_000,
  },
  {
    name: 'deaf',
    title: 'agent stopped, then cancelled',
    model: silentInText,
    act: 'stop and cancel',
    truth: ['cancelled'],
    withinMs: 6_000,
  },
  {
    name: 'tool cancelled',
    title: 'cancelled while a command runs',
    model: { text: said },
    tool: forever,
    act: 'cancel',
    truth: ['cancelled'],
    withinMs: 6_000,
  },
  {
    name: 'tool killed',
    title: 'agent killed while a command runs',
    model: { text: said },
    tool: forever,
    act: 'kill',
    truth: ['failed'],
    withinMs: 6_000,
  },
  {
    name: 'tool stdin',
    title: 'stdin closed while a command runs',
    model: { text: said },
    tool: forever,
    act: 'close stdin',
    truth: ['any'],
    withinMs: 6_000,
  },
  {
    name: 'long tool',
    title: `a command is silent for ${longMs / 1000} s`,
    model: { text: said },
    tool: long,
    act: 'wait',
    truth: ['done'],
    withinMs: 20_000,
  },
  {
    name: 'question',
    title: `a person answers a question after ${longMs / 1000} s`,
    model: { text: said },
    tool: { command: 'touch asked', answersAfterMs: longMs },
    act: 'wait',
    truth: ['done'],
    withinMs: 20_000,
  },
  {
    name: 'question cancelled',
    title: 'cancelled while a question is open, which is never answered',
    model: { text: said },
    tool: { command: 'touch asked', answersAfterMs: 'never' },
    act: 'cancel',
    truth: ['cancelled'],
    withinMs: 6_000,
  },
];
