import { appendFileSync } from 'node:fs';
import type { RpcId } from '../../src/protocol/face.ts';
import type { AcpUpdate } from './acpMemory.ts';

export type AcpAnswer = { readonly result: unknown } | { readonly error: object };

/** A message of the client as faults befall it: a request until it is answered, a notification without an id. */
export interface AcpExchange {
  readonly method: string;
  readonly id: RpcId | undefined;
  readonly session: string;
  /** The text of a prompt. */
  readonly text: string;
  /** Replies to requests of ours that it waits for. */
  readonly waits: Set<Promise<unknown>>;
  /** Points at which it has been. */
  readonly reached: Set<string>;
  isOver: boolean;
  /** True once a fault has stopped it: it does nothing more by itself. */
  stands: boolean;
  copies: number;
  repeat: number;
  answersAs?: RpcId;
  /** Ends the agent in place of the answer, or after it. */
  ending?: (line: string) => void;
  onOver?: () => void;
}

export function newExchange(method: string, id: RpcId | undefined, session: string, text = ''): AcpExchange {
  const state = { isOver: false, stands: false, copies: 1, repeat: 1 };
  return { method, id, session, text, waits: new Set(), reached: new Set(), ...state };
}

export const isLive = ({ isOver, stands }: AcpExchange): boolean => !isOver && !stands;

/** Surroundings of a turn: its agent and the client. */
export interface AcpStage {
  readonly announcesTools: boolean;
  /** Makes an id of a tool call, another one each time. */
  toolId(title: string): string;
  /** The client's `clientCapabilities`. */
  readonly client: { readonly fs?: Readonly<Record<string, unknown>>; readonly terminal?: unknown };
  /** Sends an update unless the turn is over. */
  tell(turn: AcpExchange, update: AcpUpdate): void;
  /** Comes to a point at which faults may befall the turn. */
  reach(turn: AcpExchange, point: 'text' | 'tool'): Promise<void>;
  /** Asks the client; the result, or undefined for an error. */
  request(turn: AcpExchange, method: string, params: object): Promise<Readonly<Record<string, unknown>> | undefined>;
  sleep(ms: number): Promise<void>;
  end(turn: AcpExchange, stopReason: string): void;
}

/** Does one line of a prompt: `VERB REST`; a line without a known verb is said back. */
export function playStep(stage: AcpStage, turn: AcpExchange, line: string): Promise<void> {
  const [, word = '', rest = ''] = /^(\S*)\s*([^]*)$/.exec(line) ?? [];
  const verb = Object.hasOwn(verbs, word) ? verbs[word] : undefined;
  return verb === undefined ? say(stage, turn, `You said: ${line}`) : verb(stage, turn, rest);
}

type Verb = (stage: AcpStage, turn: AcpExchange, rest: string) => Promise<void>;

const verbs: Readonly<Record<string, Verb>> = {
  say,
  think: async (stage, turn, seconds) => {
    stage.tell(turn, chunk('agent_thought_chunk', 'Let me think.'));
    await stage.sleep(1000 * Number(seconds));
  },
  wait: (stage, _turn, seconds) => stage.sleep(1000 * Number(seconds)),
  tool: async (stage, turn, rest) => {
    const [name = 'tool', seconds = '0'] = rest.split(' ');
    await tool(stage, turn, name, () => stage.sleep(1000 * Number(seconds)));
  },
  /** Appends a line to a file, as a tool: an effect that can be counted. */
  append: async (stage, turn, rest) => {
    const [file = '', ...words] = rest.split(' ');
    await tool(stage, turn, 'append', () => appendFileSync(file, `${words.join(' ')}\n`));
  },
  ask: (stage, turn, rest) => {
    const [name = '', seconds = '0'] = rest.split(' ');
    return ask(stage, turn, name === '' ? 'tool' : name, Number(seconds));
  },
  read: async (stage, turn, path) => {
    if (stage.client.fs?.['readTextFile'] !== true) return say(stage, turn, 'The client reads no files');
    const got = await stage.request(turn, 'fs/read_text_file', { path });
    await say(stage, turn, (got?.['content'] as string | undefined) ?? 'no such file');
  },
  write: async (stage, turn, rest) => {
    const [path = '', ...words] = rest.split(' ');
    if (stage.client.fs?.['writeTextFile'] !== true) return say(stage, turn, 'The client writes no files');
    await stage.request(turn, 'fs/write_text_file', { path, content: words.join(' ') });
  },
  run: async (stage, turn, line) => {
    if (stage.client.terminal !== true) return say(stage, turn, 'The client has no terminal');
    const [command, ...args] = line.split(' ');
    const made = await stage.request(turn, 'terminal/create', { command, args });
    const terminal = { terminalId: made?.['terminalId'] };
    await stage.request(turn, 'terminal/wait_for_exit', terminal);
    const { output } = (await stage.request(turn, 'terminal/output', terminal)) ?? {};
    await stage.request(turn, 'terminal/release', terminal);
    await say(stage, turn, String(output));
  },
  stop: async (stage, turn, reason) => stage.end(turn, reason),
};

async function say(stage: AcpStage, turn: AcpExchange, text: string): Promise<void> {
  for (let times = turn.repeat; times > 0; times--) {
    for (const part of text.match(/\S+\s*/g) ?? [text]) {
      stage.tell(turn, chunk('agent_message_chunk', part));
      await stage.reach(turn, 'text');
    }
  }
}

async function tool(stage: AcpStage, turn: AcpExchange, title: string, work: () => unknown): Promise<void> {
  const toolCallId = stage.toolId(title);
  const about = { toolCallId, title, kind: 'execute' };
  if (stage.announcesTools) {
    stage.tell(turn, { sessionUpdate: 'tool_call', ...about, status: 'pending', rawInput: {} });
    stage.tell(turn, { sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' });
  }
  await stage.reach(turn, 'tool');
  if (!isLive(turn)) return;
  await work();
  stage.tell(turn, toolEnd(about, 'completed', `${title} is done`));
}

/** Asks for a permission; the tool is done so many seconds after it is given. */
export async function ask(stage: AcpStage, turn: AcpExchange, title: string, seconds = 0): Promise<void> {
  const toolCallId = stage.toolId(title);
  const about = { toolCallId, title, kind: 'execute' };
  if (stage.announcesTools) stage.tell(turn, { sessionUpdate: 'tool_call', ...about, status: 'pending', rawInput: {} });
  const reply = await stage.request(turn, 'session/request_permission', {
    toolCall: { ...about, status: 'pending' },
    options: [
      { optionId: 'allow_once', name: 'Allow', kind: 'allow_once' },
      { optionId: 'reject_once', name: 'Reject', kind: 'reject_once' },
    ],
  });
  const { outcome, optionId } = (reply?.['outcome'] ?? {}) as { readonly outcome?: string; readonly optionId?: string };
  if (outcome === 'cancelled') stage.end(turn, 'cancelled');
  const isAllowed = outcome === 'selected' && optionId === 'allow_once';
  if (isAllowed && seconds > 0) await stage.sleep(1000 * seconds);
  stage.tell(turn, toolEnd(about, isAllowed ? 'completed' : 'failed', isAllowed ? `${title} is done` : 'Denied'));
}

function toolEnd(about: { readonly toolCallId: string; readonly title: string }, status: string, text: string) {
  const content = [{ type: 'content', content: { type: 'text', text } }];
  return { sessionUpdate: 'tool_call_update', ...about, status, content };
}

/** Update that carries a part of a text. */
export function chunk(sessionUpdate: string, text: string): AcpUpdate {
  return { sessionUpdate, content: { type: 'text', text } };
}
