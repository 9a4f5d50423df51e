import type { Tool } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import type { McpConnection } from '../../../src/actors/mcp/mcpClient.ts';
import { createToolList, type ToolChanges } from '../../../src/actors/mcp/mcpTools.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import { deferred, type Deferred } from '../../support/deferred.ts';

const tool = (name: string, description?: string): Tool => ({ name, description, inputSchema: { type: 'object' } });
const named = (...names: string[]): Tool[] => names.map((name) => tool(name));

/** A list in simulated time, and connections whose questions the test answers. */
function startList() {
  const clock = new SimulatedClock();
  const changes: ToolChanges[] = [];
  const list = createToolList({ clock, limitMs: 1000, changed: (change) => changes.push(change) });
  const connect = () => {
    const questions: (Deferred<Tool[]> & { signal: AbortSignal })[] = [];
    let toolsChanged = (): void => undefined;
    const connection: McpConnection = {
      pid: 7,
      server: undefined,
      lateAnswers: 0,
      modern: false,
      capabilities: {},
      callTool: () => Promise.reject(new Error('unused')),
      listTools(context) {
        const question = { ...deferred<Tool[]>(), signal: context?.signal ?? AbortSignal.abort() };
        questions.push(question);
        return question.promise;
      },
      onToolsChanged(listener) {
        toolsChanged = listener;
      },
      request: () => Promise.resolve({}),
      ping: () => Promise.resolve(true),
      kill: () => undefined,
    };
    list.ready(connection);
    const answer = async (tools: Tool[], index = questions.length - 1): Promise<void> => {
      questions[index]?.resolve(tools);
      await clock.settle();
    };
    return { connection, questions, answer, toolsChanged: () => toolsChanged() };
  };
  return { clock, changes, list, connect };
}

describe('the list of the tools of an MCP server', () => {
  it('[P-1] is asked for when the server is ready', async () => {
    const { list, connect, changes } = startList();
    expect(list.known).toBeUndefined();
    await connect().answer(named('a', 'b'));
    expect(list.known).toEqual({ tools: named('a', 'b'), current: true });
    expect(list.find('b')).toEqual(tool('b'));
    expect(changes).toEqual([]);
  });

  it('[P-1] is kept while the server is down, and is not current until the next has listed its own', async () => {
    const { list, connect } = startList();
    await connect().answer(named('a'));
    list.lost();
    expect(list.known).toEqual({ tools: named('a'), current: false });
    const next = connect();
    expect(list.known).toEqual({ tools: named('a'), current: false });
    await next.answer(named('a'));
    expect(list.known?.current).toBe(true);
  });

  it('[P-1] tells how it changed over a restart', async () => {
    const { list, connect, changes } = startList();
    await connect().answer([tool('a'), tool('b'), tool('c')]);
    list.lost();
    await connect().answer([tool('d'), tool('b', 'other'), tool('c')]);
    expect(changes).toEqual([{ added: ['d'], removed: ['a'], changed: ['b'] }]);
  });

  it('[P-1] is the same in another order', async () => {
    const { list, connect, changes } = startList();
    await connect().answer(named('a', 'b'));
    list.lost();
    await connect().answer(named('b', 'a'));
    expect(changes).toEqual([]);
  });

  it('[P-1] is asked for again 100 ms after the server says that it changed, however often it says so', async () => {
    const { clock, list, connect } = startList();
    const { questions, answer, toolsChanged } = connect();
    await answer(named('a'));
    toolsChanged();
    toolsChanged();
    expect(list.known?.current).toBe(false);
    await clock.advance(99);
    expect(questions).toHaveLength(1);
    await clock.advance(1);
    expect(questions).toHaveLength(2);
    await answer(named('b'));
    expect(list.known).toEqual({ tools: named('b'), current: true });
  });

  it('[P-1] is not current when it was asked for before the change', async () => {
    const { clock, list, connect } = startList();
    const { answer, toolsChanged } = connect();
    toolsChanged();
    await answer(named('a'));
    expect(list.known?.current).toBe(false);
    await clock.advance(100);
    await answer(named('b'));
    expect(list.known).toEqual({ tools: named('b'), current: true });
  });

  it('[P-1] is that of the later question when the server answers it first', async () => {
    const { clock, list, changes, connect } = startList();
    const { answer, toolsChanged } = connect();
    toolsChanged();
    await clock.advance(100);
    await answer(named('new'));
    await answer(named('old'), 0);
    expect(list.known).toEqual({ tools: named('new'), current: true });
    expect(changes).toEqual([]);
  });

  it('[I-3] leaves no timer behind when the connection is lost', async () => {
    const { clock, list, connect } = startList();
    const { questions, toolsChanged } = connect();
    toolsChanged();
    list.lost();
    questions[0]?.reject(new AttemptError({ kind: 'crash', message: 'gone', outcome: 'unknown' }));
    await clock.settle();
    expect(clock.pending).toBe(0);
  });

  it('[P-1] does not take the list of a connection that is gone', async () => {
    const { list, connect } = startList();
    const old = connect();
    list.lost();
    const next = connect();
    await next.answer(named('new'));
    await old.answer(named('old'));
    old.toolsChanged();
    expect(list.known).toEqual({ tools: named('new'), current: true });
  });

  it('[I-1] is not waited for beyond its limit', async () => {
    const { clock, connect } = startList();
    const { questions } = connect();
    await clock.advance(999);
    expect(questions[0]?.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(questions[0]?.signal.aborted).toBe(true);
  });

  it('[P-1] is empty for a server that does not know the question', async () => {
    const { clock, list, connect } = startList();
    connect().questions[0]?.reject(
      new AttemptError({ kind: 'permanent', message: 'no', outcome: 'failed', code: -32_601 }),
    );
    await clock.settle();
    expect(list.known).toEqual({ tools: [], current: true });
  });

  it('[I-4] is given to who asks, and what is wrong with it', async () => {
    const { list, connect } = startList();
    const { connection, questions, answer } = connect();
    const context = { signal: new AbortController().signal, touch: () => undefined };
    const asked = list.ask(connection, context);
    await answer(named('a'));
    expect(await asked).toEqual(named('a'));
    const again = list.ask(connection, context);
    questions.at(-1)?.reject(new AttemptError({ kind: 'unknown', message: 'no', outcome: 'unknown' }));
    await expect(again).rejects.toThrow('no');
    expect(list.known).toEqual({ tools: named('a'), current: true });
  });
});
