import { rpcErrors } from '../../src/protocol/face.ts';
import { AcpTalk, type TimedReply } from './acpTalk.ts';
import type { AcpParams } from './acpWire.ts';

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

/** A must of the protocol, and how it is looked at. */
export interface AcpMust {
  readonly must: string;
  /** Says what is missing for it; undefined where all is there. */
  readonly lacks?: (state: CheckState) => string | undefined;
  /** It is looked at in a new life of the agent. */
  readonly restarts?: true;
  /** @returns whether it is kept, undefined where that was not to be seen, and what was. */
  readonly look: (state: CheckState) => Promise<readonly [isKept: boolean | undefined, seen: string]>;
}

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

const noSession = ({ session }: CheckState): string | undefined => (session === '' ? 'there is no session' : undefined);
const noLoad = (state: CheckState): string | undefined =>
  noSession(state) ?? (capability(state)['loadSession'] === true ? undefined : 'loadSession is not announced');

function capability({ greeting }: CheckState): AcpParams {
  return (greeting['agentCapabilities'] ?? {}) as AcpParams;
}

/** The musts in the order in which they are looked at. */
export const acpMusts: readonly AcpMust[] = [
  {
    must: 'initialize is answered with a version of the protocol; id 0 is kept',
    async look(state) {
      const { talk, limits } = state;
      const params = { protocolVersion: 1, clientCapabilities: {} };
      const reply = await talk.ask(0, 'initialize', params, limits.startMs);
      state.greeting = resultOf(reply);
      const { name, version } = (state.greeting['agentInfo'] ?? {}) as AcpParams;
      const of = name === undefined ? '' : `, ${String(name)} ${String(version)}`;
      return [
        state.greeting['protocolVersion'] === 1,
        `${seenOf(reply, `version ${String(state.greeting['protocolVersion'])}`)}${of}`,
      ];
    },
  },
  {
    must: 'session/new gives an id, each time another; an id that is a text is kept',
    async look(state) {
      const params = { cwd: state.cwd, mcpServers: [] };
      const first = await state.talk.ask('new "1"', 'session/new', params, state.limits.startMs);
      const { sessionId } = resultOf(first);
      if (typeof sessionId !== 'string') return [false, seenOf(first, 'no id')];
      state.session = sessionId;
      const second = await state.talk.ask('', 'session/new', params, state.limits.startMs);
      const other = resultOf(second)['sessionId'];
      return [typeof other === 'string' && other !== sessionId, seenOf(second, `${sessionId}, ${String(other)}`)];
    },
  },
  ...['first', 'second'].map(
    (nth): AcpMust => ({
      must: `a ${nth} prompt is answered with a stop reason, after updates with its text`,
      lacks: noSession,
      async look({ talk, session, limits }) {
        const from = talk.updates.length;
        const reply = await talk.prompt(nth, session, harmless, limits.turnMs);
        const text = talk.updates
          .slice(from)
          .map((update) => (update.kind === 'agent_message_chunk' && update.session === session ? update.text : ''))
          .join('');
        const isWhole = isStop(reply) && text.trim() !== '';
        return [isWhole, `${seenOf(reply)}${text === '' ? ', no text' : `, ${JSON.stringify(text.slice(0, 30))}`}`];
      },
    }),
  ),
  {
    must: 'a method that it does not know is answered with -32601',
    look: async ({ talk, limits }) => {
      const reply = await talk.ask('unknown', '_unwedge/no_such_method', {}, limits.startMs);
      return [reply.error?.code === rpcErrors.methodNotFound, seenOf(reply)];
    },
  },
  {
    must: 'a prompt of a session that it does not know is an error',
    look: async ({ talk, limits }) => {
      const reply = await talk.prompt('nobody', 'no-such-session', harmless, limits.startMs);
      return [reply.error !== undefined, seenOf(reply)];
    },
  },
  ...(
    [
      ['a line that is no JSON does not end it', (talk) => talk.wire.write('{"no JSON\n')],
      ['a notification that it does not know does not end it', (talk) => talk.wire.notify('_unwedge/no_such', {})],
      [
        'a cancel without a turn does not end it',
        (talk, sessionId) => talk.wire.notify('session/cancel', { sessionId }),
      ],
    ] as readonly (readonly [string, (talk: AcpTalk, session: string) => void])[]
  ).map(
    ([must, send]): AcpMust => ({
      must,
      look: async ({ talk, session, limits }) => {
        send(talk, session);
        const reply = await talk.ask(must, '_unwedge/no_such_method', {}, limits.startMs);
        return [reply.isClosed === undefined && reply.isLate === undefined, `then ${seenOf(reply)}`];
      },
    }),
  ),
  {
    must: 'a prompt that is cancelled is answered with `cancelled`',
    lacks: noSession,
    async look({ talk, session, limits }) {
      const asked = talk.prompt('cancelled', session, long, beforeCancelMs + limits.cancelMs);
      const early = await Promise.race([talk.nextUpdate(beforeCancelMs), asked]);
      if (early !== undefined) return [undefined, `over before it was cancelled: ${seenOf(early)}`];
      talk.wire.notify('session/cancel', { sessionId: session });
      const reply = await asked;
      await talk.pause(afterCancelMs);
      return [resultOf(reply)['stopReason'] === 'cancelled', seenOf(reply)];
    },
  },
  {
    must: 'a prompt after that is answered as any other',
    lacks: noSession,
    async look({ talk, session, limits }) {
      const reply = await talk.prompt('after', session, harmless, limits.turnMs);
      return [isStop(reply) && resultOf(reply)['stopReason'] !== 'cancelled', seenOf(reply)];
    },
  },
  {
    must: 'two prompts at once are answered once each',
    lacks: noSession,
    async look({ talk, session, limits }) {
      const replies = await Promise.all([1, 2].map((nth) => talk.prompt(nth, session, harmless, limits.turnMs)));
      const odd = talk.wire.oddAnswers.length;
      return [odd === 0 && replies.every((reply) => isStop(reply) || reply.error !== undefined), seen(replies)];
    },
  },
  {
    must: 'the end of its stdin ends it, and all that it started',
    async look({ talk, limits }) {
      const family = await talk.agent.family();
      talk.agent.stdin.end();
      const exit = await talk.within(talk.agent.exited, limits.exitMs);
      if (exit === undefined) return [false, `alive after ${limits.exitMs / 1000} s`];
      if (family.some(isAlive)) await talk.pause(familyMs);
      const left = family.filter(isAlive);
      return [left.length === 0, left.length === 0 ? exit : `${exit}; left: ${left.join(', ')}`];
    },
  },
  {
    must: 'session/load tells what was said before it is answered, in another process',
    lacks: noLoad,
    restarts: true,
    async look(state) {
      const { session, cwd, limits } = state;
      const talk = await state.restart();
      await talk.ask(0, 'initialize', { protocolVersion: 1, clientCapabilities: {} }, limits.startMs);
      const params = { sessionId: session, cwd, mcpServers: [] };
      const reply = await talk.ask('load', 'session/load', params, limits.startMs);
      const told = talk.updates.filter((update) => update.session === session);
      const count = (kind: string): number => told.filter((update) => update.kind === kind).length;
      const [users, texts] = [count('user_message_chunk'), count('agent_message_chunk')];
      const isWhole = reply.result !== undefined && users > 0 && texts > 0;
      return [isWhole, seenOf(reply, `${users} of the user, ${texts} of the agent`)];
    },
  },
  {
    must: 'session/load of a session that it does not know is an error',
    lacks: noLoad,
    async look({ talk, cwd, limits }) {
      const params = { sessionId: '00000000-0000-4000-8000-000000000000', cwd, mcpServers: [] };
      const reply = await talk.ask('unknown load', 'session/load', params, limits.startMs);
      return [reply.error !== undefined, seenOf(reply)];
    },
  },
  {
    must: 'a version that it does not speak is answered with one that it does',
    restarts: true,
    async look(state) {
      const talk = await state.restart();
      const params = { protocolVersion: 99, clientCapabilities: {} };
      const reply = await talk.ask('a', 'initialize', params, state.limits.startMs);
      const { protocolVersion } = resultOf(reply);
      const isKnown = Number.isInteger(protocolVersion) && Number(protocolVersion) < 99;
      return [isKnown, seenOf(reply, `version ${String(protocolVersion)}`)];
    },
  },
];

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

function seen(replies: readonly TimedReply[]): string {
  return replies.map((reply) => seenOf(reply)).join('; ');
}

/** Shows a reply. @param result - shown in place of its stop reason. */
function seenOf(reply: TimedReply, result = String(resultOf(reply)['stopReason'] ?? 'a result')): string {
  const { error, isLate, isClosed, ms } = reply;
  if (isClosed === true) return ended;
  if (isLate === true) return `no answer in ${ms / 1000} s`;
  const { details } = (error?.data ?? {}) as { readonly details?: unknown };
  const why = typeof details === 'string' ? ` (${details.split('\n')[0]})` : '';
  return `${error === undefined ? result : `error ${error.code}: ${error.message}${why}`}, ${ms} ms`;
}
