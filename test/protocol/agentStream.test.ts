import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAgentStream } from '../../src/protocol/agentStream.ts';

const claude = { agent: 'claude', format: 'stream-json' } as const;
const bytes = (message: object): Buffer => Buffer.from(`${JSON.stringify(message)}\n`);
const result = { num_turns: 1, result: 'hello', is_error: false, subtype: 'success', type: 'result' };
const megabyte = 'x'.repeat(1024 * 1024);

describe("the stream of an agent's output", () => {
  it('[S-10] [R-12] that was given up before its end may have told of an act', () => {
    const effectsOf = (isCut: boolean) => {
      const stream = createAgentStream(claude);
      stream.push(bytes({ type: 'system', subtype: 'init', session_id: 's' }));
      stream.end(isCut);
      return stream.report(0).effects;
    };
    expect([effectsOf(false), effectsOf(true)]).toEqual(['none', 'possible']);
  });

  it('[S-10] is read across chunks, a last line without its end included', () => {
    const stream = createAgentStream(claude);
    for (const byte of bytes({ ...result, result: 'grün' }).subarray(0, -1)) stream.push(Uint8Array.of(byte));
    stream.end();
    expect(stream.report(0)).toMatchObject({ text: 'grün', concluded: true });
  });

  it('[S-7] does not so much as parse what tools read into long lines', () => {
    const stream = createAgentStream(claude);
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    stream.push(bytes({ type: 'user', message: { content: [{ type: 'tool_result', content: megabyte }] } }));
    stream.push(bytes({ type: 'user', message: { content: `{"type":"result"}${megabyte}` } }));
    expect(parse).not.toHaveBeenCalled();
    stream.push(bytes(result));
    expect(stream.report(0).text).toBe('hello');
  });

  it('[S-10] reads a result of several MB, and keeps the first MB of the answer', () => {
    const stream = createAgentStream(claude);
    stream.push(bytes({ ...result, result: megabyte.repeat(3) }));
    expect(stream.report(0).text).toHaveLength(1024 * 1024);
  });

  it('[S-10] says when a line was too long to be read', () => {
    const stream = createAgentStream(claude);
    for (let n = 0; n < 17; n++) stream.push(Buffer.from(megabyte));
    expect(stream.missed).toBe(true);
    stream.push(Buffer.from('\n'));
    stream.push(bytes(result));
    expect(stream.report(0)).toMatchObject({ text: 'hello' });
  });

  it('[R-12] may have told of an act in a line that was not read', () => {
    const codex = { agent: 'codex', format: 'stream-json' } as const;
    const act = { type: 'item.started', item: { arguments: megabyte, type: 'mcp_tool_call' } };
    for (const [command, line, effects] of [
      [codex, bytes({ type: 'item.completed', item: { type: 'reasoning', text: 'x' } }), 'none'],
      [codex, bytes(act), 'possible'],
      [claude, Buffer.from(`${megabyte.repeat(17)}\n`), 'possible'],
      [claude, bytes({ type: 'user', message: megabyte }), 'none'],
    ] as const) {
      const stream = createAgentStream(command);
      stream.push(bytes({ type: 'system' }));
      stream.push(line);
      expect(stream.report(0).effects).toBe(effects);
    }
  });

  it('[R-12] of plain text says nothing of effects', () => {
    const stream = createAgentStream({ agent: 'claude', format: 'text' });
    stream.push(bytes(result));
    stream.end();
    expect(stream.report(0)).toEqual({ agent: 'claude', effects: 'unknown', concluded: false });
  });
});
