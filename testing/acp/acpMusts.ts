import { rpcErrors } from '../../src/protocol/face.ts';
import type { AcpTalk, TimedReply } from './acpTalk.ts';
import { type AcpParams, textOf } from './acpWire.ts';

/** Limits of the check, in ms. */
export interface AcpCheckLimits {
  /** Its start, and each request but a prompt. */
  readonly startMs: number;
  /** A prompt. */
  readonly turnMs: number;
  /** The end of a prompt that was cancelled. */
  readonly cancelMs: number;
  /** Its exit once its stdin has ended. */
  readonly exitMs: number;
}

/** State of a check: a conversation, and what earlier steps found. */
export interface CheckState {
  readonly limits: AcpCheckLimits;
  readonly cwd: string;
  /** Starts another agent in place of this one. */
  restart(): Promise<AcpTalk>;
  talk: AcpTalk;
  greeting: AcpParams;
  session: string;
}

/** Finding: whether a must is kept, undefined where that could not be seen, and what was. */
type Seen = readonly [isKept: boolean | undefined, seen: string];
type Look = (state: CheckState) => Promise<Seen>;

/** A must of the protocol, and how it is looked at. It needs a session, one that can be loaded, or another life; else only an agent that is alive. */
type AcpMust = readonly [must: string, look: Look, needs?: 'session' | 'load' | 'restart'];

/** Finding on an agent that has ended in place of its answer. */
export const ended = 'it ended';

const harmless = 'Reply with the word ok';
const long = 'Count from 1 to 300, one number a line';
const stopReasons = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'];
/** Time in ms before a cancel in which nothing was heard of the turn. */
const beforeCancelMs = 1000;
/** Time in ms after its answer in which what is left of a cancelled turn may be heard. */
const afterCancelMs = 500;
/** Time in ms in which what an agent started may end after it. */
const familyMs = 2000;

/** The musts in the order in which they are looked at. */
export const acpMusts: readonly AcpMust[] = [
  ['initialize is answered with a version of the protocol; id 0 is kept', greets],
  ['session/new gives an id, each time another; an id that is a text is kept', opensSessions],
  ['a first prompt is answered with a stop reason, after updates with its text', answers('first'), 'session'],
  ['a second prompt is answered with a stop reason, after updates with its text', answers('second'), 'session'],
  [
    'a method that it does not know is answered with -32601',
    gets(({ error }) => error?.code === rpcErrors.methodNotFound, askUnknown),
  ],
  [
    'a prompt of a session that it does not know is an error',
    gets(isError, ({ talk, limits }) => talk.prompt('nobody', 'no-such-session', harmless, limits.startMs)),
  ],
  ['a line that is no JSON does not end it', survives(({ talk }) => talk.wire.write('{"no JSON\n'))],
  [
    'a notification that it does not know does not end it',
    survives(({ talk }) => talk.wire.notify('_unwedge/no_such', {})),
  ],
  [
    'a cancel without a turn does not end it',
    survives(({ talk, session }) => talk.wire.notify('session/cancel', { sessionId: session })),
    'session',
  ],
  ['a prompt that is cancelled is answered with `cancelled`', cancels, 'session'],
  ['a prompt after that is answered as any other', answers('after'), 'session'],
  ['two prompts at once are answered once each', answersBoth, 'session'],
  ['the end of its stdin ends it, and all that it started', endsWithStdin],
  ['session/load tells what was said before it is answered, in another process', loads, 'load'],
  [
    'session/load of a session that it does not know is an error',
    gets(isError, (state) => load(state, '00000000-0000-4000-8000-000000000000')),
    'load',
  ],
  ['a version that it does not speak is answered with one that it does', speaksItsOwn, 'restart'],
];

/** Says what is missing for a must; undefined where all is there. */
export function missingFor([, , needs]: AcpMust, { session, greeting, talk }: CheckState): string | undefined {
  if (needs === 'restart') return undefined;
  if (needs !== undefined && session === '') return 'there is no session';
  if (needs !== 'load') return talk.wire.isClosed ? 'it had ended' : undefined;
  const { loadSession } = (greeting['agentCapabilities'] ?? {}) as AcpParams;
  return loadSession === true ? undefined : 'loadSession is not announced';
}

async function greets(state: CheckState): Promise<Seen> {
  const reply = await greet(state.talk, 1, state);
  state.greeting = resultOf(reply);
  const { protocolVersion, agentInfo } = state.greeting as { protocolVersion?: unknown; agentInfo?: AcpParams };
  const name = agentInfo === undefined ? '' : `, ${String(agentInfo['name'])} ${String(agentInfo['version'])}`;
  return [protocolVersion === 1, `${seenOf(reply, `version ${String(protocolVersion)}`)}${name}`];
}

async function opensSessions(state: CheckState): Promise<Seen> {
  const { talk, cwd, limits } = state;
  const open = (id: string): Promise<TimedReply> =>
    talk.ask(id, 'session/new', { cwd, mcpServers: [] }, limits.startMs);
  const first = await open('new "1"');
  const { sessionId } = resultOf(first);
  if (typeof sessionId !== 'string') return [false, seenOf(first, 'no id')];
  state.session = sessionId;
  const second = await open('');
  const other = resultOf(second)['sessionId'];
  return [typeof other === 'string' && other !== sessionId, seenOf(second, `${sessionId}, ${String(other)}`)];
}

function answers(id: string): Look {
  return async ({ talk, session, limits }) => {
    const from = talk.wire.received.length;
    const reply = await talk.prompt(id, session, harmless, limits.turnMs);
    const text = talk.updates(session, 'agent_message_chunk', from, reply.heard).map(textOf).join('');
    const said = text === '' ? 'no text' : JSON.stringify(text.slice(0, 30));
    const isAnswer = isStop(reply) && resultOf(reply)['stopReason'] !== 'cancelled';
    return [isAnswer && text.trim() !== '', `${seenOf(reply)}, ${said}`];
  };
}

/** Lives on after something that is sent to it. */
function survives(send: (state: CheckState) => void): Look {
  return async (state) => {
    send(state);
    const reply = await askUnknown(state);
    return [reply.isClosed === undefined && reply.isLate === undefined, `then ${seenOf(reply)}`];
  };
}

function gets(isRight: (reply: TimedReply) => boolean, ask: (state: CheckState) => Promise<TimedReply>): Look {
  return async (state) => {
    const reply = await ask(state);
    return [isRight(reply), seenOf(reply)];
  };
}

async function cancels({ talk, session, limits }: CheckState): Promise<Seen> {
  const asked = talk.prompt('cancelled', session, long, beforeCancelMs + limits.cancelMs);
  const early = await Promise.race([talk.nextUpdate(beforeCancelMs), asked]);
  if (early !== undefined) return [undefined, `over before it was cancelled: ${seenOf(early)}`];
  talk.wire.notify('session/cancel', { sessionId: session });
  const reply = await asked;
  await talk.pause(afterCancelMs);
  return [resultOf(reply)['stopReason'] === 'cancelled', seenOf(reply)];
}

async function answersBoth({ talk, session, limits }: CheckState): Promise<Seen> {
  const replies = await Promise.all([1, 2].map((id) => talk.prompt(id, session, harmless, limits.turnMs)));
  const areAnswered = replies.every((reply) => isStop(reply) || isError(reply));
  return [areAnswered, replies.map((reply) => seenOf(reply)).join('; ')];
}

async function endsWithStdin({ talk, limits }: CheckState): Promise<Seen> {
  const family = await talk.agent.family();
  talk.agent.stdin.end();
  const exit = await talk.within(talk.agent.exited, limits.exitMs);
  if (exit === undefined) return [false, `alive after ${limits.exitMs / 1000} s`];
  if (family.some(isAlive)) await talk.pause(familyMs);
  const left = family.filter(isAlive);
  return [left.length === 0, left.length === 0 ? exit : `${exit}; left: ${left.join(', ')}`];
}

async function loads(state: CheckState): Promise<Seen> {
  const talk = await state.restart();
  await greet(talk, 1, state);
  const reply = await load(state, state.session);
  const count = (kind: string): number => talk.updates(state.session, kind, 0, reply.heard).length;
  const [users, texts] = [count('user_message_chunk'), count('agent_message_chunk')];
  const isWhole = reply.result !== undefined && users > 0 && texts > 0;
  return [isWhole, seenOf(reply, `${users} of the user, ${texts} of the agent`)];
}

async function speaksItsOwn(state: CheckState): Promise<Seen> {
  const reply = await greet(await state.restart(), 99, state);
  const version = resultOf(reply)['protocolVersion'];
  return [Number.isInteger(version) && Number(version) < 99, seenOf(reply, `version ${String(version)}`)];
}

function greet(talk: AcpTalk, protocolVersion: number, { limits }: CheckState): Promise<TimedReply> {
  return talk.ask(0, 'initialize', { protocolVersion, clientCapabilities: {} }, limits.startMs);
}

function load({ talk, cwd, limits }: CheckState, sessionId: string): Promise<TimedReply> {
  return talk.ask('load', 'session/load', { sessionId, cwd, mcpServers: [] }, limits.startMs);
}

function askUnknown({ talk, limits }: CheckState): Promise<TimedReply> {
  return talk.ask('unknown', '_unwedge/no_such_method', {}, limits.startMs);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function resultOf({ result }: TimedReply): AcpParams {
  return typeof result === 'object' && result !== null ? (result as AcpParams) : {};
}

function isStop(reply: TimedReply): boolean {
  return stopReasons.includes(String(resultOf(reply)['stopReason']));
}

function isError({ error }: TimedReply): boolean {
  return error !== undefined;
}

/** Shows a reply. @param result - shown in place of its stop reason. */
function seenOf(
  reply: TimedReply,
  result = (resultOf(reply)['stopReason'] as string | undefined) ?? 'a result',
): string {
  const { error, isLate, isClosed, ms } = reply;
  if (isClosed === true) return ended;
  if (isLate === true) return `no answer in ${ms / 1000} s`;
  const { details } = (error?.data ?? {}) as { readonly details?: unknown };
  const why = typeof details === 'string' ? ` (${details.split('\n')[0]})` : '';
  return `${error === undefined ? result : `error ${error.code}: ${error.message}${why}`}, ${ms} ms`;
}
