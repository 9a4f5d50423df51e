import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AcpFaultRule, faultyAcpAgent, inProcessAcpAgent, SimulatedClock } from '../../../testing/index.ts';
import { converseInProcess } from '../../support/acpWire.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

type Options = Parameters<typeof inProcessAcpAgent>[0];

async function open(options: Options = {}, capabilities: object = {}) {
  const peer = converseInProcess(options);
  await peer.open(capabilities);
  return peer;
}

const withFaults = (...faults: readonly AcpFaultRule[]) => open({ faults });

/** The outcome of one prompt. */
async function turn(faults: readonly AcpFaultRule[], text = 'say one two; tool look; say three') {
  const peer = await withFaults(...faults);
  peer.prompt(1, text);
  return peer.answer(1);
}

const reasonOf = ({ messages }: { messages: readonly { result?: object; error?: object }[] }) =>
  messages.at(-1)?.error ?? messages.at(-1)?.result;

/** Lets everything that is on its way in this process arrive. */
const settled = async () => {
  for (let turns = 0; turns < 10; turns++) await new Promise((done) => void setImmediate(done));
};

describe('the ACP agent without a fault', () => {
  it('[A-7] greets, makes sessions and streams a turn', async () => {
    const peer = converseInProcess({ name: 'mine' });
    peer.request(0, 'initialize', { protocolVersion: 99 });
    expect((await peer.next()).result).toMatchObject({
      protocolVersion: 1,
      agentCapabilities: { loadSession: true },
      agentInfo: { name: 'mine' },
    });
    peer.request('', 'session/new', {});
    expect(await peer.next()).toMatchObject({ id: '', result: { sessionId: 'session-1' } });
    peer.prompt(2, 'think 0; say one two; tool look; say three');
    const { words, text, messages } = await peer.answer(2);
    expect(words).toEqual([
      'agent_thought_chunk',
      'text',
      'text',
      'tool_call pending',
      'tool_call_update in_progress',
      'tool_call_update completed',
      'text',
      'usage_update',
      'answer 2',
    ]);
    expect(text).toBe('one twothree');
    expect(messages.at(-1)?.result).toEqual({ stopReason: 'end_turn' });
  });

  it('[A-7] says the same each time, but for the ids of its tools in another life', async () => {
    const stateFile = join(temporaryDirectory(), 'state');
    const lives: string[] = [];
    for (const options of [{}, {}, { stateFile }, { stateFile }]) {
      const peer = await open(options);
      peer.prompt(1, 'tool look');
      lives.push(JSON.stringify((await peer.answer(1)).messages.find(({ params }) => params !== undefined)?.params));
    }
    expect(lives[0]).toContain('"toolCallId"');
    expect(new Set(lives.slice(0, 3)).size).toBe(1);
    expect(lives[3]).not.toBe(lives[2]);
  });

  it('[A-7] says back what is no order, and stops with the reason it is told', async () => {
    expect(await turn([], 'Reply with the word ok')).toMatchObject({ text: 'You said: Reply with the word ok' });
    expect(reasonOf(await turn([], 'stop refusal'))).toEqual({ stopReason: 'refusal' });
  });

  it('[A-7] answers what it does not know with errors, and goes on', async () => {
    const peer = await open();
    peer.request(1, 'no/such');
    peer.prompt(2, 'say x', 'session-9');
    peer.request(3, 'session/load', { sessionId: 'session-9' });
    peer.request(4, 'session/resume', { sessionId: 'session-1' });
    peer.stdin.write('no JSON\n');
    const codes = [];
    for (let count = 0; count < 5; count++) codes.push((await peer.next()).error?.['code']);
    expect(codes.map(Number).toSorted((a, b) => b - a)).toEqual([-32002, -32601, -32601, -32602, -32700]);
    peer.prompt(5, 'say still here');
    expect((await peer.answer(5)).text).toBe('still here');
  });

  it.each([
    [{ outcome: { outcome: 'selected', optionId: 'allow_once' } }, 'completed', 'end_turn'],
    [{ outcome: { outcome: 'selected', optionId: 'reject_once' } }, 'failed', 'end_turn'],
    [{ outcome: { outcome: 'cancelled' } }, undefined, 'cancelled'],
  ])('[A-7] asks for a permission and takes the reply %j', async (result, status, stopReason) => {
    const peer = await open();
    peer.prompt(1, 'ask pay');
    const asked = (await peer.until(({ method }) => method === 'session/request_permission')).messages.at(-1);
    expect(asked).toMatchObject({ id: 0, params: { sessionId: 'session-1', toolCall: { title: 'pay' } } });
    peer.send({ id: 0, result });
    const { words, ...rest } = await peer.answer(1);
    expect(words.includes(`tool_call_update ${String(status)}`)).toBe(status !== undefined);
    expect(reasonOf(rest)).toEqual({ stopReason });
  });

  it('[A-7] reads, writes and runs by the client, where that can', async () => {
    const peer = await open({ ids: 'strings' }, { fs: { readTextFile: true, writeTextFile: true }, terminal: true });
    peer.prompt(1, 'read /a; write /b some text; run ls -l');
    const results: Readonly<Record<string, object>> = {
      'fs/read_text_file': { content: 'of the file ' },
      'terminal/create': { terminalId: 't' },
      'terminal/output': { output: 'of ls' },
    };
    const asked: unknown[] = [];
    let text = '';
    for (let left = 6; left > 0; left--) {
      const heard = await peer.until(({ id, method }) => id !== undefined && method !== undefined);
      const { id, method = '', params } = heard.messages.at(-1) ?? {};
      text += heard.text;
      asked.push(id, method, params);
      peer.send({ id, result: results[method] ?? {} });
    }
    expect(text + (await peer.answer(1)).text).toBe('of the file of ls');
    expect(asked).toMatchObject([
      ...['agent-0', 'fs/read_text_file', { path: '/a' }],
      ...['agent-1', 'fs/write_text_file', { path: '/b', content: 'some text' }],
      ...['agent-2', 'terminal/create', { command: 'ls', args: ['-l'] }],
      ...['agent-3', 'terminal/wait_for_exit', { terminalId: 't' }],
      ...['agent-4', 'terminal/output', { terminalId: 't' }],
      ...['agent-5', 'terminal/release', { terminalId: 't' }],
    ]);
    const poor = await open();
    poor.prompt(1, 'read /a; write /b c; run ls');
    expect((await poor.answer(1)).text).toBe(
      'The client reads no filesThe client writes no filesThe client has no terminal',
    );
  });

  it('[A-7] counts effects in a file', async () => {
    const file = join(temporaryDirectory(), 'effects');
    await turn([], `append ${file} paid 5`);
    expect(readFileSync(file, 'utf8')).toBe('paid 5\n');
  });

  it('[A-7] waits by its clock, keeps what it read with times, and is cancelled', async () => {
    const clock = new SimulatedClock();
    const peer = await open({ clock });
    peer.prompt(1, 'say before; wait 30; say after');
    await peer.until(({ method }) => method === 'session/update');
    await clock.advance(29_999);
    peer.prompt(2, 'say queued');
    await settled();
    peer.cancel();
    expect(reasonOf(await peer.answer(1))).toEqual({ stopReason: 'cancelled' });
    expect(reasonOf(await peer.answer(2))).toEqual({ stopReason: 'cancelled' });
    await clock.advance(60_000);
    peer.request(3, 'no/such');
    expect((await peer.answer(3)).words).toEqual(['answer 3']);
    expect(peer.agent.transcript.map(({ atMs, line }) => [atMs, (JSON.parse(line) as { id?: unknown }).id])).toEqual([
      [0, 'i'],
      [0, 'n'],
      [0, 1],
      [29_999, 2],
      [29_999, undefined],
      [89_999, 3],
    ]);
  });

  it('[A-7] ends when its stdin ends', async () => {
    const peer = await open();
    peer.prompt(1, 'wait 1000');
    peer.stdin.end();
    expect(await peer.agent.exited).toEqual({ code: 0 });
    expect(await peer.line()).toBeUndefined();
  });
});

describe('a session of the ACP agent', () => {
  const stateFile = () => join(temporaryDirectory(), 'state');

  /** Two turns in a first life, then a load in a second one. */
  async function reload(options: Options) {
    const file = stateFile();
    const first = await open({ stateFile: file });
    for (const [id, said] of [
      [1, 'say one'],
      [2, 'say two'],
    ] as const) {
      first.prompt(id, said);
      await first.answer(id);
    }
    first.agent.kill();
    const second = converseInProcess({ ...options, stateFile: file });
    second.request('l', 'session/load', { sessionId: 'session-1' });
    second.request('last', 'no/such');
    return second.answer('last');
  }

  const user = 'user_message_chunk';
  const whole = [user, 'text', 'usage_update', user, 'text', 'usage_update'];

  it.each<[string, Options, string[]]>([
    ['all before the answer', {}, [...whole, 'answer l']],
    ['after it', { replay: 'after' }, ['answer l', ...whole]],
    ['before and after it', { replay: 'split' }, [...whole.slice(0, 3), 'answer l', ...whole.slice(3)]],
    ['without the last answer', { loses: 'last_answer' }, [...whole.slice(0, 4), 'answer l']],
    ['without any answer', { loses: 'answers' }, [user, user, 'answer l']],
  ])('[A-7] survives its end and is replayed %s', async (_, options, words) => {
    expect((await reload(options)).words).toEqual([...words, 'answer last']);
  });

  it('[A-7] is not loaded by an agent that cannot, and resumed without a word by one that can', async () => {
    const { messages } = await reload({ loadSession: false });
    expect(messages.find(({ id }) => id === 'l')?.error).toMatchObject({ code: -32601 });
    const peer = await open({ resume: true });
    peer.request(1, 'session/resume', { sessionId: 'session-1' });
    expect((await peer.answer(1)).words).toEqual(['answer 1']);
  });

  it('[A-7] has an id that no other start gives, and faults of one start', async () => {
    const file = stateFile();
    const faults: AcpFaultRule[] = [{ start: [1, 3], do: 'error' }];
    const codes: unknown[] = [];
    for (const session of ['session-1', 'session-2', 'session-3']) {
      const peer = converseInProcess({ stateFile: file, faults });
      expect(await peer.open()).toBe(session);
      peer.prompt(1, 'say one', session);
      codes.push((await peer.answer(1)).messages.at(-1)?.error?.['code']);
    }
    expect(codes).toEqual([-32603, undefined, -32603]);
  });
});

describe('a fault of the ACP agent: silence', () => {
  it.each(['initialize', 'session/new', 'session/load'])('[A-7] at %s', async (on) => {
    const peer = converseInProcess({ faults: [{ on, do: 'hang' }] });
    peer.request(1, on, {});
    peer.request(2, 'authenticate');
    expect((await peer.answer(2)).words).toEqual(['answer 2']);
  });

  it.each([
    ['before', []],
    ['text', ['text']],
    ['tool', ['text', 'text', 'tool_call pending', 'tool_call_update in_progress']],
    ['end', expect.arrayContaining(['tool_call_update completed', 'usage_update']) as never],
  ] as const)('[A-7] in a prompt at `%s`; a cancel is heard', async (at, words) => {
    const peer = await withFaults({ at, do: 'hang' });
    peer.prompt(1, 'say one two; tool look; say three');
    peer.request(2, 'no/such');
    await settled();
    peer.cancel();
    const { words: all, ...rest } = await peer.answer(1);
    expect(all.slice(0, -1).filter((word) => word !== 'answer 2')).toEqual(words);
    expect(reasonOf(rest)).toEqual({ stopReason: 'cancelled' });
  });

  it('[A-7] hears no cancel, and nothing at all', async () => {
    const deaf = await withFaults({ do: 'hang' }, { on: 'session/cancel', do: 'hang' });
    deaf.prompt(1, 'say one');
    deaf.cancel();
    deaf.request(2, 'no/such');
    expect((await deaf.answer(2)).words).toEqual(['answer 2']);
    const stopped = await withFaults({ at: 'text', do: 'hang', scope: 'agent' });
    stopped.prompt(1, 'say one two');
    await settled();
    stopped.request(2, 'no/such');
    await settled();
    stopped.agent.kill();
    expect((await stopped.until(() => false)).words).toEqual(['text', 'the end']);
  });

  it('[A-7] goes on with its turn where it passes over the cancel alone', async () => {
    const clock = new SimulatedClock();
    const peer = await open({ clock, faults: [{ on: 'session/cancel', do: 'hang' }] });
    peer.prompt(1, 'wait 5; say there');
    peer.cancel();
    await settled();
    await clock.advance(5000);
    expect(await peer.answer(1)).toMatchObject({ text: 'there', words: ['text', 'usage_update', 'answer 1'] });
  });

  it('[A-7] waits for a permission for ever, or without listening', async () => {
    const peer = await withFaults({ at: 'text', do: 'ask', then: 'hang' });
    peer.prompt(1, 'say one two');
    await peer.until(({ method }) => method === 'session/request_permission');
    peer.send({ id: 0, result: { outcome: { outcome: 'selected', optionId: 'allow_once' } } });
    peer.request(2, 'no/such');
    expect((await peer.answer(2)).words).not.toContain('answer 1');
    const { words } = await turn([{ do: 'ask', then: 'go_on' }], 'say one');
    expect(words).toEqual(['tool_call pending', 'session/request_permission', 'text', 'usage_update', 'answer 1']);
  });

  it('[A-7] has a cancel wait for the reply to what it asked', async () => {
    const peer = await open({ like: 'gemini' });
    peer.prompt(1, 'ask pay');
    await peer.until(({ method }) => method === 'session/request_permission');
    peer.cancel();
    peer.request(2, 'no/such');
    expect((await peer.answer(2)).words).toEqual(['answer 2']);
    peer.send({ id: 0, result: { outcome: { outcome: 'cancelled' } } });
    expect(reasonOf(await peer.answer(1))).toEqual({ stopReason: 'cancelled' });
  });
});

describe('a fault of the ACP agent: its end of a turn', () => {
  it.each<[AcpFaultRule, string, object]>([
    [{ do: 'stop', text: 'Ran into this error: 529' }, 'Ran into this error: 529', { stopReason: 'end_turn' }],
    [{ do: 'stop' }, '', { stopReason: 'end_turn' }],
    [{ at: 'text', do: 'stop' }, 'one ', { stopReason: 'end_turn' }],
    [{ do: 'stop', reason: 'max_tokens' }, '', { stopReason: 'max_tokens' }],
    [{ at: 'text', do: 'error', code: 401, message: 'no key' }, 'one ', { code: 401, message: 'no key' }],
    [{ do: 'repeat', times: 3 }, 'one twoone twoone twothreethreethree', { stopReason: 'end_turn' }],
    [{ do: 'flood', updates: 100 }, `${'x'.repeat(1000)}one twothree`, { stopReason: 'end_turn' }],
    [{ at: 'end', do: 'flood', bytes: 300_000 }, `one twothree${'x'.repeat(300_000)}`, { stopReason: 'end_turn' }],
  ])('[A-7] %j', async (fault, text, end) => {
    const outcome = await turn([fault]);
    expect(outcome.text).toBe(text);
    expect(reasonOf(outcome)).toEqual(end);
  });

  it('[A-7] takes its time', async () => {
    const clock = new SimulatedClock();
    const peer = await open({ clock, faults: [{ do: 'slow', ms: '10s' }] });
    peer.prompt(1, 'say one');
    await settled();
    await clock.advance(9999);
    peer.request(2, 'no/such');
    expect((await peer.answer(2)).words).toEqual(['answer 2']);
    await clock.advance(1);
    expect((await peer.answer(1)).text).toBe('one');
  });

  it.each<[AcpFaultRule, object]>([
    [{ on: 'session/cancel', do: 'stop' }, { stopReason: 'end_turn' }],
    [
      { on: 'session/cancel', do: 'error' },
      { code: -32603, message: 'Internal error' },
    ],
  ])('[A-7] at a cancel: %j', async (fault, end) => {
    const peer = await withFaults(fault);
    peer.prompt(1, 'wait 1000');
    peer.cancel();
    expect(reasonOf(await peer.answer(1))).toEqual(end);
  });

  it.each([
    ['before', ['answer 1', 'text', 'text', 'text']],
    ['after', ['text', 'text', 'text', 'answer 1']],
    ['never', ['text', 'text', 'text']],
  ] as const)('[A-7] goes on after a cancel, its answer %s', async (answer, words) => {
    const peer = await withFaults({ on: 'session/cancel', do: 'late', answer });
    peer.prompt(1, 'wait 1000');
    peer.cancel();
    await settled();
    peer.request(2, 'no/such');
    expect((await peer.answer(2)).words).toEqual([...words, 'answer 2']);
  });
});

describe('a second prompt of the ACP agent', () => {
  it.each([
    ['queue', ['cancelled', 'cancelled']],
    ['refuse', ['cancelled', -32602]],
    ['end_first', ['cancelled', 'cancelled']],
    ['end_both', ['end_turn', 'end_turn']],
  ] as const)('[A-7] %s', async (busy, ends) => {
    const peer = await open({ busy });
    const seen = new Map<unknown, unknown>();
    peer.prompt(1, 'wait 1000');
    peer.prompt(2, 'wait 1001');
    await settled();
    const [first] = peer.agent.transcript.slice(-1);
    expect(first?.line).toContain('wait 1001');
    if (busy === 'end_first') seen.set(1, (await peer.answer(1)).messages.at(-1)?.result?.['stopReason']);
    peer.cancel();
    while (seen.size < 2) {
      const { id, result, error } = await peer.next();
      if (id !== undefined) seen.set(id, result?.['stopReason'] ?? error?.['code']);
    }
    expect([seen.get(1), seen.get(2)]).toEqual(ends);
  });

  it('[A-7] is worked off after the first', async () => {
    const peer = await open();
    peer.prompt(1, 'say one');
    peer.prompt(2, 'say two');
    expect((await peer.answer(1)).text).toBe('one');
    expect((await peer.answer(2)).text).toBe('two');
  });
});

describe('a fault of the ACP agent: its end', () => {
  it.each(['start', 'initialize', 'session/new', 'session/prompt', 'session/cancel'])('[A-7] at %s', async (on) => {
    const peer = converseInProcess({ faults: [{ on, do: 'crash', exitCode: 0 }] });
    void peer.open().then(() => {
      peer.prompt(1, 'wait 1000');
      peer.cancel();
    });
    expect(await peer.agent.exited).toEqual({ code: 0 });
  });

  it.each([
    ['half', /^\{"jsonrpc":"2.0","id":1[^}]*$/],
    ['unterminated', /^\{"jsonrpc":"2.0","id":1,.*\}\}$/],
    ['after', /^\{"jsonrpc":"2.0","id":1,.*\}\}$/],
  ] as const)('[A-7] with its answer: %s', async (when, form) => {
    const peer = await withFaults({ do: 'crash', when, signal: 'SIGKILL' });
    peer.prompt(1, 'stop end_turn');
    expect(await peer.agent.exited).toEqual({ signal: 'SIGKILL' });
    expect(await peer.line()).toMatch(form);
  });

  it('[A-7] in the middle of a turn, while it asks', async () => {
    const peer = await withFaults({ at: 'tool', do: 'ask', then: 'crash' });
    peer.prompt(1, 'tool pay');
    const { words } = await peer.until(() => false);
    expect(words.slice(-2)).toEqual(['session/request_permission', 'the end']);
    expect(await peer.agent.exited).toEqual({ code: 1 });
  });
});

describe('a fault of the ACP agent: its messages', () => {
  it('[A-7] stray lines, doubled answers, answers to nobody, and no results', async () => {
    const noise = await withFaults({ do: 'noise' }, { do: 'duplicate_answer' });
    noise.prompt(1, 'stop end_turn');
    expect(await noise.line()).toBe('Loading model...');
    expect([await noise.next(), await noise.next()]).toMatchObject([{ id: 1 }, { id: 1 }]);
    const joined = await withFaults({ do: 'noise', text: 'x', newline: false });
    joined.prompt(1, 'stop end_turn');
    expect(await joined.line()).toMatch(/^x\{/);
    const wrong = await withFaults({ do: 'wrong_id' });
    wrong.prompt(1, 'say one');
    expect(await wrong.answer('nobody-asked')).toMatchObject({ text: 'one' });
    const malformed = await withFaults({ on: 'session/set_mode', do: 'malformed' });
    malformed.request(1, 'session/set_mode');
    expect(await malformed.next()).toMatchObject({ id: 1, result: 'no result' });
  });

  it('[A-7] what no client knows', async () => {
    const { words, messages } = await turn(
      [
        { do: 'strange', what: 'update' },
        { do: 'strange', what: 'notification' },
        { do: 'strange', what: 'request' },
      ],
      'say one',
    );
    expect(words.slice(0, 4)).toEqual(['strange_update', 'strange/notification', 'strange/request', 'text']);
    expect(messages[2]?.id).toBe(0);
  });

  it('[A-7] a tool of which only the end is told; a session before `initialize`', async () => {
    const silent = await open({ announcesTools: false });
    silent.prompt(1, 'tool look');
    expect((await silent.answer(1)).words).toEqual(['tool_call_update completed', 'usage_update', 'answer 1']);
    const early = async (beforeInitialize: 'accept' | 'refuse' | 'silent') => {
      const peer = converseInProcess({ beforeInitialize });
      peer.request(1, 'session/new', {});
      peer.request(2, 'authenticate');
      const { messages } = await peer.answer(2);
      return messages.map(({ id, error }) => error?.['code'] ?? id);
    };
    expect(await early('accept')).toEqual([1, 2]);
    expect(await early('refuse')).toEqual([-32600, 2]);
    expect(await early('silent')).toEqual([2]);
  });
});

describe('a rule of the ACP agent', () => {
  const errors = async (options: Options, prompts: readonly string[]) => {
    const peer = await open(options);
    const codes: unknown[] = [];
    for (const [id, text] of prompts.entries()) {
      peer.prompt(id, text);
      codes.push((await peer.answer(id)).messages.at(-1)?.error?.['code'] ?? 'ok');
    }
    return codes;
  };

  it('[A-7] befalls prompts by count, by text, and by chance the same each time', async () => {
    const error = { do: 'error', code: 1 } as const;
    const three = ['say a', 'say b', 'say a'];
    expect(await errors({ faults: [{ ...error, nth: [1, 3] }] }, three)).toEqual([1, 'ok', 1]);
    expect(await errors({ faults: [{ ...error, prompt: 'b' }] }, three)).toEqual(['ok', 1, 'ok']);
    const many = Array.from({ length: 40 }, () => 'say a');
    const [first, second, other] = [
      await errors({ seed: 5, faults: [{ ...error, chance: 0.5 }] }, many),
      await errors({ seed: 5, faults: [{ ...error, chance: 0.5 }] }, many),
      await errors({ seed: 6, faults: [{ ...error, chance: 0.5 }] }, many),
    ];
    expect(first).toEqual(second);
    expect(first).not.toEqual(other);
    expect(first.filter((each) => each === 1).length).toBeGreaterThan(10);
    expect(first.filter((each) => each === 'ok').length).toBeGreaterThan(10);
  });

  it.each<[object, RegExp]>([
    [{ faults: [{ do: 'no_such' }] }, /Expected `faults\[0\].do` to be .*, got "no_such"/],
    [{ faults: [{ on: 'initialize', at: 'text', do: 'hang' }] }, /Expected `faults\[0\].on` to be "session\/prompt"/],
    [{ faults: [{ start: 2, do: 'hang' }] }, /`stateFile`/],
    [{ like: 'nobody' }, /Expected `like` to be .*, got "nobody"/],
  ])('[A-7] that cannot be is refused: %j', (options, message) => {
    expect(() => faultyAcpAgent(options)).toThrow(message);
    expect(() => inProcessAcpAgent(options)).toThrow(message);
  });
});
