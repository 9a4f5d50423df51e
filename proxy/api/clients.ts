import type { IncomingHttpHeaders } from 'node:http';

/** Faults of an answer on its way, as far as clients go on from it in ways of their own. */
export const faults = {
  refused: '529, a few times',
  'refused for an hour': '429 with a `retry-after` of an hour',
  'refused without a hint': '429 without a `retry-after`',
  'cut before headers': 'a reset before headers',
  'silent before headers': 'no headers',
  'cut in its text': 'a cut in the text',
  'silent in its text': 'silence in the text',
  'cut in a call': 'a cut in the call of a tool',
  'cut after a call': 'a cut after the call of a tool',
  'silent after a call': 'silence after the call of a tool',
  'cut after its finish': 'a cut after the reason of its end',
  'silent after its finish': 'silence after the reason of its end',
} as const;

/** Names a row of {@link faults}. */
export type ClientFault = keyof typeof faults;

/**
 * Deeds of the proxy. `again`: sends the request again, and the client sees nothing. `passes`: hands the answer on as it came. `drops hint`: the same without
 * its `retry-after`. `cut`: closes the connection. `reset`: resets it, once what was sent has been read. `error`: tells the failure by an event of the
 * protocol. `good end`: ends the answer as if nothing had happened.
 */
export type ProxyAct = 'again' | 'passes' | 'drops hint' | 'cut' | 'reset' | 'error' | 'good end';

/** A cell of the table: what is done, and whether the client goes on by itself then, fails, or waits without a word for as long as it was told. A tool that it was told to call runs once, where it goes on. */
interface ClientCell {
  readonly does: ProxyAct;
  readonly then: 'goes on' | 'waits' | 'fails';
}

/** A program that asks a model. */
interface ClientFacts {
  readonly name: string;
  /** The version that it was tried with. */
  readonly version: string;
  /** Pattern of its name in its requests. */
  readonly agent: RegExp;
  /** The header by which the requests of one conversation know each other. */
  readonly conversations: readonly string[];
  readonly cells: Readonly<Record<ClientFault, ClientCell>>;
}

const unseen: ClientCell = { does: 'again', then: 'goes on' };
const passed: ClientCell = { does: 'passes', then: 'fails' };
const whole: ClientCell = { does: 'good end', then: 'goes on' };

/** Cells that hold for all: before the first of an answer, and after the reason of its end. */
const everywhere = {
  refused: unseen,
  'refused for an hour': passed,
  'refused without a hint': unseen,
  'cut before headers': unseen,
  'silent before headers': unseen,
  'cut after its finish': whole,
  'silent after its finish': whole,
} as const;

/** Cells of a call that came whole, where a client makes it whatever follows. */
const called = { 'cut after a call': whole, 'silent after a call': whole } as const;

/** An answer that breaks in between is ended in one way, wherever it breaks. */
function broken(cell: ClientCell): Pick<ClientFacts['cells'], BreakingFault> {
  return {
    'cut in its text': cell,
    'silent in its text': cell,
    'cut in a call': cell,
    'cut after a call': cell,
    'silent after a call': cell,
  };
}

type BreakingFault =
  | 'cut in its text'
  | 'silent in its text'
  | 'cut in a call'
  | 'cut after a call'
  | 'silent after a call';

/**
 * Each client and each fault: how the proxy ends it, and what the client was seen to do then. Tried with the program itself where it is installed
 * (`test/real`), and with what its requests look like always.
 */
export const clients = {
  claude: {
    name: 'Claude Code',
    version: '2.1.332',
    agent: /^claude-cli\//i,
    conversations: ['x-claude-code-session-id'],
    // An error event sends it to a slower request that is no stream.
    cells: { ...everywhere, ...broken({ does: 'cut', then: 'goes on' }) },
  },
  codex: {
    name: 'Codex',
    version: '0.171.0',
    agent: /^codex/i,
    conversations: ['session-id', 'session_id', 'thread-id'],
    // It shows the message of `response.failed` and asks again. An hour's hint it would follow, without a word.
    cells: {
      ...everywhere,
      'refused for an hour': { does: 'drops hint', then: 'fails' },
      ...broken({ does: 'error', then: 'goes on' }),
    },
  },
  opencode: {
    name: 'opencode',
    version: '1.18.33',
    agent: /^opencode\//i,
    conversations: ['x-session-id'],
    // It runs a tool as soon as its call is there. After an error event, and after a cut, it asks again from the beginning and runs it again.
    cells: {
      ...everywhere,
      'refused for an hour': { does: 'passes', then: 'waits' },
      ...broken({ does: 'cut', then: 'goes on' }),
      ...called,
    },
  },
  gemini: {
    name: 'gemini-cli',
    version: '0.61.0',
    agent: /^GeminiCLI/i,
    conversations: [],
    // It asks again after a reset alone, of which Node tells when all that came before it was read.
    // A call that it had been given before it asks again it makes as well.
    cells: {
      ...everywhere,
      'refused for an hour': { does: 'passes', then: 'waits' },
      ...broken({ does: 'reset', then: 'goes on' }),
      ...called,
    },
  },
  anthropic: {
    name: 'Anthropic SDK',
    version: '1.14.0',
    agent: /^Anthropic\//i,
    conversations: [],
    // It throws what the event says, and waits for whatever it is told.
    cells: {
      ...everywhere,
      'refused for an hour': { does: 'passes', then: 'waits' },
      ...broken({ does: 'error', then: 'fails' }),
    },
  },
  sdk: {
    name: 'OpenAI SDK',
    version: '7.59.0',
    agent: /(?:)/,
    // That of goose.
    conversations: ['agent-session-id'],
    // It throws what the event says, as do others that are not known here.
    cells: { ...everywhere, ...broken({ does: 'error', then: 'fails' }) },
  },
} as const satisfies Readonly<Record<string, ClientFacts>>;

/** Names a client. */
export type ClientKind = keyof typeof clients;

const kinds = Object.keys(clients) as ClientKind[];

/** Told by the name that the programs give themselves. */
export function clientOf({ 'user-agent': agent = '' }: IncomingHttpHeaders): ClientKind {
  return kinds.find((kind) => clients[kind].agent.test(agent)) ?? 'sdk';
}
