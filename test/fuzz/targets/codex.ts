import { BegunCommands } from '../../../agents/codex/protocol/begunCommands.ts';
import { requestFailure, turnFailure } from '../../../agents/codex/protocol/codexFailures.ts';
import { createItemReplay } from '../../../agents/codex/protocol/itemReplay.ts';
import { isToolCall, mayAct } from '../../../agents/codex/protocol/items.ts';
import {
  type CodexNotice,
  isProgress,
  readNotice,
  readTurnError,
} from '../../../agents/codex/protocol/notifications.ts';
import {
  acceptance,
  detailOf,
  formOf,
  notUnderstood,
  readQuestion,
  refusal,
  replyOfForm,
} from '../../../agents/codex/protocol/questions.ts';
import { brokenTurn, readThread, readThreadList } from '../../../agents/codex/protocol/threads.ts';
import { RpcPeer } from '../../../agents/codex/rpc/rpcPeer.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { answerKey, messagesIn } from '../peer.ts';
import { must, pieces, same, type Target } from '../target.ts';

const wallNow = 1_700_000_000_000;
const line = (message: object): string => `${JSON.stringify(message)}\n`;
const of = { threadId: 't', turnId: 'u' };
const item = (type: string, more: object = {}): object => ({ ...of, item: { id: 'i', type, ...more } });

/** Messages of the app-server of Codex, one a line. */
const said = [
  line({ id: 1, result: { thread: { id: 't', turns: [{ id: 'u', status: 'interrupted' }] } } }) +
    line({ method: 'turn/started', params: { threadId: 't', turn: { id: 'u', status: 'inProgress' } } }) +
    line({ method: 'item/started', params: item('agentMessage', { text: '' }) }) +
    line({ method: 'item/agentMessage/delta', params: { ...of, itemId: 'i', delta: 'hel' } }) +
    line({ method: 'error', params: { ...of, error: { message: 'again' }, willRetry: true } }) +
    line({ method: 'item/started', params: item('agentMessage', { id: 'j', text: '' }) }) +
    line({ method: 'item/agentMessage/delta', params: { ...of, itemId: 'j', delta: 'hello' } }) +
    line({ method: 'item/completed', params: item('agentMessage', { id: 'j', text: 'hello' }) }),
  line({ method: 'item/started', params: item('commandExecution', { command: 'ls', status: 'inProgress' }) }) +
    line({ id: 7, method: 'item/commandExecution/requestApproval', params: { ...of, itemId: 'i', command: 'ls' } }) +
    line({
      method: 'item/started',
      params: item('collabAgentToolCall', { tool: 'spawnAgent', receiverThreadIds: ['h'] }),
    }) +
    line({
      method: 'thread/tokenUsage/updated',
      params: { ...of, tokenUsage: { total: { totalTokens: 5 }, last: {} } },
    }),
  line({
    id: 'q',
    method: 'item/tool/requestUserInput',
    params: { ...of, questions: [{ id: 'a', question: 'Sure?' }] },
  }) +
    line({
      id: 8,
      method: 'mcpServer/elicitation/request',
      params: { ...of, message: 'Fill', requestedSchema: { properties: { a: {} } } },
    }) +
    line({ id: 9, method: 'item/permissions/requestApproval', params: { ...of, permissions: { network: null } } }) +
    line({ id: 10, method: 'item/tool/call', params: { ...of, tool: 'x', arguments: {} } }) +
    line({
      id: 11,
      method: 'execCommandApproval',
      params: { conversationId: 't', command: ['ls', '-l'], callId: 'c' },
    }),
  line({ id: 2, error: { code: -32001, message: 'Server overloaded; retry later.' } }) +
    line({
      method: 'turn/completed',
      params: {
        threadId: 't',
        turn: {
          id: 'u',
          status: 'failed',
          error: { message: 'no', codexErrorInfo: { httpConnectionFailed: { httpStatusCode: 502 } } },
        },
      },
    }) +
    line({ method: 'thread/status/changed', params: { threadId: 't', status: { type: 'idle' } } }) +
    line({ id: 1, result: { data: [{ id: 't', preview: 'p', updatedAt: 1 }], nextCursor: 'n' } }),
];

/** Lines of the app-server: understood the same however they are cut, each of its requests is answered once, and each of ours ends. */
export function codexServer(): Target {
  return {
    seeds: said,
    words: ['threadId', 'turnId', 'itemId', 'item/completed', 'turn/completed'],
    async run(input, random) {
      const whole = await hear([input]);
      same(await hear(pieces(input, random)), whole, 'what is understood depends on where it is cut');
    },
  };
}

async function hear(chunks: readonly Buffer[]): Promise<string> {
  const told: unknown[] = [];
  const sent: string[] = [];
  const asked = new Map<string, number>();
  const [begun, replay] = [new BegunCommands(), createItemReplay()];
  const peer = new RpcPeer({
    clock: new SimulatedClock(),
    write: (text) => sent.push(text) > 0,
    ...{ maxMessageBytes: 3000, maxInFlight: 10, maxMalformed: 10 },
    readError: (error) => requestFailure(error, wallNow),
    listener: {
      notified: (method, params) =>
        told.push(understood(readNotice(method, params), isProgress(method), begun, replay)),
      asked: ({ id, method, params, answer, fail }) => {
        const key = JSON.stringify(id);
        asked.set(key, (asked.get(key) ?? 0) + 1);
        const question = readQuestion(method, params);
        const isAnswered = question === undefined ? fail(notUnderstood(method)) : answer(decided(question));
        must(isAnswered && !answer({}), 'a request is answered twice, or never');
      },
      strange: (what, text) => {
        must(text.length <= 200, 'a strange line is shown whole');
        told.push(what);
      },
      unhealthy: () => told.push('unhealthy'),
      tooLarge: () => told.push('too large'),
      threw: (error) => {
        throw error;
      },
    },
  });
  const ours = ['thread/read', 'thread/list'].map((method) =>
    peer.request(method, {}).then(
      (result) => told.push(threadsIn(result)),
      (error: unknown) => told.push(String(error)),
    ),
  );
  for (const chunk of chunks) peer.push(chunk);
  peer.end();
  peer.close({ kind: 'crash', message: 'it is gone', outcome: 'unknown' });
  await Promise.all(ours);
  must(peer.inFlight === 0, 'a request of ours has no end');
  for (const each of messagesIn(sent.join('')).filter(({ method }) => method === undefined)) {
    const key = answerKey(each) ?? JSON.stringify(each.id ?? null);
    const left = asked.get(key) ?? 0;
    must(left > 0, `${key} is answered and was not asked`);
    asked.set(key, left - 1);
  }
  must(
    [...asked.values()].every((left) => left === 0),
    'a request has no answer',
  );
  return JSON.stringify(told);
}

function understood(
  notice: CodexNotice,
  isSign: boolean,
  begun: BegunCommands,
  replay: ReturnType<typeof createItemReplay>,
): unknown {
  begun.take(notice);
  const { thread = '', turn = '' } = notice;
  const work = begun.of(thread, turn);
  must(
    work.commands.length <= 5000 && work.commands.every(({ command }) => command.length <= 200),
    'a command is long',
  );
  if (notice.kind === 'error' && notice.willRetry) replay.retrying();
  if (notice.kind === 'tokens') replay.answered();
  if (notice.kind === 'turnCompleted') turnFailure(notice.error, 'possible' as never, wallNow);
  const passed =
    notice.kind === 'itemStarted' || notice.kind === 'itemCompleted'
      ? replay.pass({ type: notice.kind === 'itemStarted' ? 'started' : 'completed', item: notice.item })
      : notice.kind === 'text'
        ? replay.pass({ type: 'delta', item: notice.item, text: notice.text })
        : [];
  const acts = 'item' in notice && typeof notice.item === 'object' && [mayAct(notice.item), isToolCall(notice.item)];
  return [notice, isSign, passed, acts, work];
}

function decided(question: NonNullable<ReturnType<typeof readQuestion>>): unknown {
  JSON.stringify([detailOf(question), formOf(question), question.action]);
  for (const given of ['yes', { a: 'x' }, undefined])
    JSON.stringify(acceptance(question, { decision: 'accept', ...replyOfForm(question, given) }));
  return refusal(question, undefined);
}

function threadsIn(result: unknown): unknown {
  const { thread, turn } = (result ?? {}) as {
    readonly thread?: unknown;
    readonly turn?: { readonly error?: unknown };
  };
  const read = readThread(thread);
  return [read, brokenTurn(read?.turns ?? []), readThreadList(result), readTurnError(turn?.error)];
}
