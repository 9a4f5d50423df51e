import { type Given, boolean, choice, duration, integer, number, text } from '../../src/policy/options/face.ts';
import { type Values, type Key } from '../../src/policy/options/face.ts';
import { answerFaults, nthKey, scriptKey, someText } from '../mcpAnswerFaults.ts';
import type { GivenAct, ReadAct } from '../variants.ts';

const stopReasons = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'] as const;

const matchKeys = {
  /**
   * A method of a request or a notification of the client; `start` is the start of the agent, before it reads anything.
   * @defaultValue 'session/prompt'
   */
  on: text(),
  /**
   * Point of a prompt's turn. `before`: nothing was sent. `text`: one chunk of its first text was. `tool`: its first tool is in progress.
   * `end`: all was sent but the answer. @defaultValue 'before'
   */
  at: choice(['before', 'text', 'tool', 'end']),
  /** Only prompts with this text in them. */
  prompt: text(),
  /** Choice among the messages that match the rest of the rule, counted from 1 in each start of the agent. @defaultValue all */
  nth: nthKey,
  /** Starts of the agent, from 1; needs a `stateFile`. @defaultValue every one */
  start: nthKey,
  /** Share of those that it befalls, from 0 to 1, by the `seed`. @defaultValue 1 */
  chance: number({ max: 1 }),
};

/** Messages that a fault of an agent befalls: all that match every condition given. */
export interface AcpFaultMatch extends Given<typeof matchKeys> {}

const acpFaults = {
  /** Says nothing more of it: never answers a request, passes over a notification, such as a cancel; or hears nothing at all from now on. */
  hang: {
    /** @defaultValue 'message' */
    scope: choice(['message', 'agent']),
  },
  /** Ends by itself, with this code or by a signal. */
  crash: {
    /** Half of the answer is written, the answer without the end of its line, or all of it. @defaultValue 'before' */
    when: choice(['before', 'half', 'unterminated', 'after']),
    /** @defaultValue 1 */
    exitCode: integer({ min: 0, max: 255 }),
    signal: choice(['SIGKILL', 'SIGTERM', 'SIGABRT']),
    /** Written to stderr first. */
    stderr: someText,
  },
  /** Ends the turn with a stop reason, true or not; a prompt, or at `session/cancel` the prompt that is cancelled. */
  stop: {
    /** @defaultValue 'end_turn' */
    reason: choice(stopReasons),
    /** Sent as the agent's text before. @defaultValue nothing */
    text: someText,
  },
  /** A JSON-RPC error; at `session/cancel`, of the prompt that is cancelled. */
  error: answerFaults.error,
  /** Says each text of the turn this often. */
  repeat: { times: integer({ min: 2, required: true }) },
  /** Goes on with texts after a `session/cancel`. */
  late: {
    /** Texts, one in each turn of the event loop. @defaultValue 3 */
    updates: integer(),
    /** Whether the cancelled prompt is answered before them, after, or never. @defaultValue 'before' */
    answer: choice(['before', 'after', 'never']),
  },
  /** Starts a child, tells its process id as a text `child PID`, and leaves it behind. It ends by itself after ten minutes. */
  child: {
    /** Gives it the agent's stdout, which does not end before it does. @defaultValue false */
    holdsOutput: boolean(),
    /** In a process group of its own. @defaultValue false */
    detached: boolean(),
  },
  /** Asks for a permission. */
  ask: {
    /** Goes on with the reply, never, without it, or crashes without it. @defaultValue 'answer' */
    then: choice(['answer', 'hang', 'go_on', 'crash']),
  },
  /** Writes a text to stdout that is no message; without an end of line it takes the next message with it. */
  noise: {
    /** @defaultValue 'Loading model...' */
    text: someText,
    /** @defaultValue true */
    newline: boolean(),
  },
  /** Sends many texts at once, or a large one. */
  flood: {
    /** @defaultValue 1 */
    updates: integer(),
    /** Length of each. @defaultValue 10 */
    bytes: integer(),
  },
  /** Sends what no client knows: a kind of update, a notification or a request, for whose answer it does not wait. */
  strange: { what: choice(['update', 'notification', 'request'], { required: true }) },
  /** Goes on after `ms`. */
  slow: {
    /** Above 0. */
    ms: duration({ required: true }),
  },
  /** Answers twice. */
  duplicate_answer: {},
  /** Answers a request that nobody made, in place of this one. */
  wrong_id: {},
  /** The result has not the form of one. */
  malformed: {},
};

/** Fault of an agent; everything else it does right. */
export type AcpFault = GivenAct<typeof acpFaults>;

/** Line of an agent's script: what goes wrong, and when. */
export type AcpFaultRule = AcpFault & AcpFaultMatch;

/** A fault whose options were read. */
export type ReadAcpFault = ReadAct<typeof acpFaults>;

/** A line that was read. */
export type ReadAcpRule = ReadAcpFault & Values<typeof matchKeys>;

/** The lines of a script; those that match a message befall it one after the other, until one of them ends it. */
export const acpRulesKey: Key<readonly ReadAcpRule[], readonly AcpFaultRule[] | undefined> = scriptKey(
  acpFaults,
  matchKeys,
);

/** Manners in which agents differ. */
export const mannerKeys = {
  /** A second prompt while one is under way: waits, is refused (-32602), ends the first as `cancelled`, or ends both as `end_turn`. @defaultValue 'queue' */
  busy: choice(['queue', 'refuse', 'end_first', 'end_both'], { default: 'queue' }),
  /** A session is asked for before `initialize`: made, refused (-32600), or never answered. @defaultValue 'accept' */
  beforeInitialize: choice(['accept', 'refuse', 'silent'], { default: 'accept' }),
  /** The protocol's version that it answers with. @defaultValue 1 */
  protocolVersion: integer({ default: 1 }),
  /** Ids of its own requests: numbers from 0, or strings. @defaultValue 'numbers' */
  ids: choice(['numbers', 'strings'], { default: 'numbers' }),
  /** Tells of a tool when it begins, and not only of its end. @defaultValue true */
  announcesTools: boolean({ default: true }),
  /** A cancel waits for the reply to an open permission. @defaultValue false */
  cancelWaitsForReply: boolean({ default: false }),
  /** Has `session/load`. @defaultValue true */
  loadSession: boolean({ default: true }),
  /** Has `session/resume`. @defaultValue false */
  resume: boolean({ default: false }),
  /** `session/load` replays before its answer, after it, or half before and half after. @defaultValue 'before' */
  replay: choice(['before', 'after', 'split'], { default: 'before' }),
  /** Missing from the replay: the agent's part of the last turn, or of every turn. @defaultValue 'nothing' */
  loses: choice(['nothing', 'last_answer', 'answers'], { default: 'nothing' }),
  /** The end of its stdin: exits, exits once no turn is under way, or stays. @defaultValue 'exit' */
  stdinEnd: choice(['exit', 'exit_when_idle', 'stay'], { default: 'exit' }),
  /** Says `not now` to SIGTERM, on stderr, and stays. @defaultValue false */
  ignoreSigterm: boolean({ default: false }),
};

/** Manners of an agent. */
export interface AcpManners extends Given<typeof mannerKeys> {}

/** Manners of real agents, as measured of goose 1.52, gemini 0.61, opencode 1.18, copilot 1.0.102, claude-agent-acp 0.101 and codex-acp 2.6. */
export const knownManners = {
  goose: { busy: 'refuse', cancelWaitsForReply: true },
  gemini: {
    busy: 'end_first',
    beforeInitialize: 'silent',
    announcesTools: false,
    cancelWaitsForReply: true,
    replay: 'split',
    stdinEnd: 'exit_when_idle',
    ignoreSigterm: true,
  },
  opencode: { busy: 'end_both', resume: true, loses: 'answers' },
  copilot: { busy: 'end_first' },
  claude: { busy: 'queue' },
  codex: { busy: 'queue' },
} as const satisfies Readonly<Record<string, AcpManners>>;
