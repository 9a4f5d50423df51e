import { describe, expect, it } from 'vitest';
import { wrapServers } from '../../../../proxy/acp/wrapServers.ts';
import { startAcp } from '../startAcp.ts';

const minute = 60_000;
const overloaded =
  'Ran into this error: Server error: 529 Overloaded.\n\nPlease retry if you think this is a transient or recoverable error.';
const isQuestion = ({ method }: { method?: string }): boolean => method === 'session/request_permission';

describe('editors before unwedge acp', () => {
  it('[A-3] passes what neither side knows, both ways', async () => {
    const acp = await startAcp({
      agent: {
        faults: [
          { do: 'strange', what: 'update' },
          { do: 'strange', what: 'notification' },
          { do: 'strange', what: 'request' },
        ],
      },
    });
    await acp.open();
    acp.prompt(1, 'say hi');
    acp.send({ method: 'x/told', params: { a: 1 } });
    acp.request(2, 'x/unknown', { b: 2 });
    await acp.settle();
    const methods = acp.messages.map(
      ({ method, params }) => (params?.['update'] as { sessionUpdate?: string })?.sessionUpdate ?? method,
    );
    expect(methods).toEqual(expect.arrayContaining(['strange_update', 'strange/notification', 'strange/request']));
    expect(acp.heard()).toEqual(
      expect.arrayContaining([expect.objectContaining({ method: 'x/told', params: { a: 1 } })]),
    );
    expect(acp.answer(2)).toMatchObject({ error: { code: -32_601 } });
  });

  it('[A-3] answers an open permission with `cancelled` at a cancel, and drops what the editor says of it later', async () => {
    const acp = await startAcp({ agent: { cancelWaitsForReply: true } });
    await acp.open();
    acp.prompt(1, 'ask edit');
    await acp.settle();
    acp.cancel();
    await acp.settle();
    expect(acp.answers(1)).toMatchObject([{ result: { stopReason: 'cancelled' } }]);
    acp.send({ id: 0, result: { outcome: { outcome: 'selected', optionId: 'allow_once' } } });
    await acp.settle();
    const replies = acp.heard().filter(({ id, method }) => id === 0 && method === undefined);
    expect(replies).toMatchObject([{ result: { outcome: { outcome: 'cancelled' } } }]);
  });

  it.for(['end_turn', 'error'] as const)(
    '[A-3] a cancelled turn that its agent ends by %s is told as it is, or as cancelled',
    async (how) => {
      const fault = how === 'error' ? ({ do: 'error' } as const) : ({ do: 'stop', reason: 'end_turn' } as const);
      const acp = await startAcp({
        agent: {
          faults: [
            { at: 'text', do: 'hang' },
            { on: 'session/cancel', ...fault },
          ],
        },
      });
      await acp.open();
      acp.prompt(1, 'say one');
      await acp.settle();
      acp.cancel();
      await acp.settle();
      expect(acp.answers(1)).toMatchObject([{ result: { stopReason: how === 'error' ? 'cancelled' : 'end_turn' } }]);
    },
  );

  it('[A-3] a failure that is told as text and `end_turn` is an error of its kind', async () => {
    const acp = await startAcp({ agent: { faults: [{ do: 'stop', text: overloaded }] } });
    await acp.open();
    acp.prompt(1, 'say hi');
    await acp.settle();
    expect(acp.answers(1)).toMatchObject([
      { error: { data: { 'unwedge/failure': { kind: 'overloaded', outcome: 'failed' } } } },
    ]);
  });

  it('[A-3] is no failure: an error text beside other content, one of no kind that is known, one in quotes', async () => {
    const acp = await startAcp();
    await acp.open();
    acp.prompt(1, 'tool read; say Error: 529 overloaded');
    acp.prompt(2, 'say Error: the sum is wrong');
    acp.prompt(3, 'say The log says "Error: 529 overloaded"');
    await acp.settle();
    for (const id of [1, 2, 3]) expect(acp.answer(id)).toMatchObject({ result: { stopReason: 'end_turn' } });
  });

  it('[A-3] the error of an agent passes as it is', async () => {
    const acp = await startAcp({ agent: { faults: [{ do: 'error', code: 401, message: 'API key not valid' }] } });
    await acp.open();
    acp.prompt(1, 'say hi');
    await acp.settle();
    expect(acp.answers(1)).toEqual([{ jsonrpc: '2.0', id: 1, error: { code: 401, message: 'API key not valid' } }]);
    expect(acp.facts('call.failed')).toMatchObject([{ failure: { kind: 'auth' } }]);
    expect(acp.heard().filter(({ method }) => method === 'session/prompt')).toHaveLength(1);
  });

  it('[A-3] tells a failure by a last message where the editor shows errors badly, and never by `end_turn`', async () => {
    const acp = await startAcp({
      errors: 'message',
      agent: { faults: [{ do: 'error', code: 500, message: 'broken' }] },
    });
    const session = await acp.open();
    acp.prompt(1, 'say hi');
    await acp.settle();
    expect(acp.answers(1)).toMatchObject([{ result: { stopReason: 'max_turn_requests' } }]);
    expect(acp.texts(session)).toMatch(/faulty: broken/);
  });

  it('[A-3] a second prompt of a session waits for the first, whatever the agent would make of it', async () => {
    const acp = await startAcp({ agent: { busy: 'end_both' } });
    await acp.open();
    acp.prompt(1, 'wait 60; say one');
    acp.prompt(2, 'say two');
    await acp.clock.advance(59_000);
    expect(acp.heard().filter(({ method }) => method === 'session/prompt')).toHaveLength(1);
    await acp.clock.advance(2000);
    expect([acp.answer(1), acp.answer(2)]).toMatchObject([
      { result: { stopReason: 'end_turn' } },
      { result: { stopReason: 'end_turn' } },
    ]);
  });

  it('[A-3] a cancel ends the prompts that wait, too, and a cancelled request its own alone', async () => {
    const acp = await startAcp();
    await acp.open();
    acp.prompt(1, 'wait 60');
    acp.prompt(2, 'say two');
    acp.prompt(3, 'say three');
    acp.send({ method: '$/cancel_request', params: { requestId: 2 } });
    await acp.settle();
    expect(acp.answer(2)).toMatchObject({ result: { stopReason: 'cancelled' } });
    expect(acp.answer(3)).toBeUndefined();
    acp.cancel();
    await acp.settle();
    for (const id of [1, 3]) expect(acp.answers(id)).toMatchObject([{ result: { stopReason: 'cancelled' } }]);
  });

  it('[A-3] ends the turn of one session, and leaves the agent to those that get on', async () => {
    const acp = await startAcp({
      idleMs: 2 * minute,
      agent: {
        faults: [
          { prompt: 'wedge', at: 'text', do: 'hang' },
          { on: 'session/cancel', do: 'hang' },
        ],
      },
    });
    const first = await acp.open();
    acp.request('m', 'session/new', { cwd: '/', mcpServers: [] });
    await acp.settle();
    const second = String(acp.answer('m')?.result?.['sessionId']);
    acp.prompt(1, 'say wedge', first);
    acp.prompt(2, Array.from({ length: 20 }, (_, index) => `say part ${index}; wait 60`).join('; '), second);
    await acp.clock.advance(3 * minute);
    expect(acp.answer(1)).toMatchObject({ error: { data: { 'unwedge/failure': { kind: 'timeout' } } } });
    acp.prompt(3, 'say more', first);
    await acp.clock.advance(minute);
    expect(acp.answer(3)).toMatchObject({
      error: { data: { 'unwedge/failure': { kind: 'unavailable', outcome: 'not_started' } } },
    });
    expect(acp.agents).toHaveLength(1);
    await acp.clock.advance(20 * minute);
    expect(acp.answer(2)).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(acp.agents).toHaveLength(2);
  });

  it.for([
    ['a tool that works for ten minutes', 'tool build 600', 1],
    ['a model that is silent for ten minutes', 'think 600; say done', 1],
    ['ten tools of ten minutes each', Array.from({ length: 10 }, () => 'tool build 600').join(';'), 10],
  ] as const)('[A-3] does not end a healthy silence: %s', async ([, prompt, times]) => {
    const acp = await startAcp();
    await acp.open();
    acp.prompt(1, prompt);
    await acp.clock.advance(times * 600_000 + 1000);
    expect(acp.answers(1)).toMatchObject([{ result: { stopReason: 'end_turn' } }]);
  });

  it('[A-3] a person may take two hours over a question', async () => {
    const acp = await startAcp();
    await acp.open();
    acp.prompt(1, 'ask edit');
    await acp.clock.advance(120 * minute);
    expect(acp.answer(1)).toBeUndefined();
    expect(acp.proxy.why().questions).toMatchObject([{ what: 'edit', sinceMs: 120 * minute }]);
    const question = acp.messages.find(isQuestion);
    acp.send({ id: question?.id, result: { outcome: { outcome: 'selected', optionId: 'allow_once' } } });
    await acp.settle();
    expect(acp.answers(1)).toMatchObject([{ result: { stopReason: 'end_turn' } }]);
  });

  it('[A-3] a tool has a limit of its own, an hour where nothing is said', async () => {
    const acp = await startAcp();
    await acp.open();
    acp.prompt(1, 'tool build 7200');
    await acp.clock.advance(59 * minute);
    expect(acp.answer(1)).toBeUndefined();
    await acp.clock.advance(2 * minute);
    expect(acp.answer(1)).toMatchObject({ error: { data: { 'unwedge/failure': { kind: 'timeout' } } } });
  });

  it('[A-3] an id that is in use is refused, and 0 is an id', async () => {
    const acp = await startAcp();
    await acp.open();
    acp.prompt(0, 'wait 60; say zero');
    acp.prompt(0, 'say again');
    await acp.settle();
    expect(acp.answers(0)).toMatchObject([{ error: { code: -32_600 } }]);
    await acp.clock.advance(minute);
    expect(acp.answers(0)).toHaveLength(2);
  });

  it('[A-3] answers that come twice, or that nobody asked for, are dropped', async () => {
    const acp = await startAcp({
      agent: {
        faults: [
          { nth: 1, do: 'duplicate_answer' },
          { nth: 2, do: 'wrong_id' },
        ],
      },
    });
    await acp.open();
    acp.prompt(1, 'say one');
    await acp.settle();
    acp.prompt(2, 'say two');
    await acp.clock.advance(16 * minute);
    expect(acp.answers(1)).toHaveLength(1);
    expect(acp.answers('nobody-asked')).toHaveLength(0);
    expect(acp.answers(2)).toMatchObject([{ error: { data: { 'unwedge/failure': { kind: 'timeout' } } } }]);
  });

  it('[A-3] refuses prompts while its circuit is open, and says when to ask again', async () => {
    const acp = await startAcp({ agent: { faults: [{ do: 'error', code: 529, message: 'Overloaded' }] } });
    await acp.open();
    for (let id = 1; id <= 6; id++) {
      acp.prompt(id, 'say hi');
      await acp.settle();
    }
    expect(acp.answer(5)).toMatchObject({ error: { code: 529 } });
    expect(acp.answer(6)).toMatchObject({
      error: { data: { 'unwedge/failure': { kind: 'circuit_open', outcome: 'not_started' } } },
    });
  });

  it('[A-3] puts the MCP servers of a session behind `unwedge mcp` where it is told to', async () => {
    const acp = await startAcp({
      wrap: wrapServers({ command: '/node', args: ['/unwedge/dist/cli/main.js'], options: ['--db', 'x.sqlite'] }),
    });
    const files = { name: 'files', command: 'npx', args: ['-y', 'server-files'], env: [{ name: 'A', value: '1' }] };
    const remote = { type: 'http', name: 'web', url: 'https://example.com/mcp', headers: [] };
    const own = { name: 'own', command: 'unwedge', args: ['mcp', '--', 'x'], env: [] };
    await acp.open({ mcpServers: [files, remote, own] });
    const [asked] = acp.heard().filter(({ method }) => method === 'session/new');
    expect(asked?.params?.['mcpServers']).toEqual([
      {
        ...files,
        command: '/node',
        args: [
          '/unwedge/dist/cli/main.js',
          'mcp',
          '--name',
          'files',
          '--db',
          'x.sqlite',
          '--',
          'npx',
          '-y',
          'server-files',
        ],
      },
      remote,
      own,
    ]);
  });

  it('[A-3] what an agent prints that is no message goes to stderr', async () => {
    const acp = await startAcp({
      agent: {
        faults: [
          { do: 'noise', text: 'Loading model...' },
          { nth: 2, do: 'noise', text: 'oops', newline: false },
        ],
      },
    });
    await acp.open();
    acp.prompt(1, 'say one');
    await acp.settle();
    acp.prompt(2, 'say two');
    await acp.settle();
    expect(acp.answers(2)).toHaveLength(1);
    expect(acp.errors()).toContain('Loading model...');
    expect(acp.texts('session-1')).toBe('onetwo');
  });

  it('[A-3] says what a prompt waits for', async () => {
    const acp = await startAcp();
    await acp.open();
    acp.prompt(1, 'wait 300');
    acp.prompt(2, 'say two');
    await acp.clock.advance(minute);
    expect(acp.proxy.why()).toMatchObject({
      session: 'faulty',
      waiting: 1,
      calls: [{ tool: 'session/prompt of session-1', sinceMs: minute }],
      next: { inMs: 14 * minute },
    });
  });

  it('[A-3] an editor that leaves in a turn is no failure of its agent, which is told to end it', async () => {
    const acp = await startAcp();
    await acp.open();
    acp.prompt(1, 'wait 600');
    acp.prompt(2, 'say two');
    await acp.settle();
    acp.input.end();
    await acp.clock.advance(10_000);
    expect(acp.facts('call.failed')).toMatchObject([{ failure: { kind: 'cancelled' } }]);
    expect(acp.facts('integration.crashed')).toEqual([]);
    expect(acp.heard().filter(({ method }) => method === 'session/cancel')).toHaveLength(1);
    await acp.proxy.ended;
  });
});
