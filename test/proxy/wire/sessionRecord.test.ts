import { describe, expect, it } from 'vitest';
import { createSessionRecord } from '../../../proxy/wire/sessionRecord.ts';

const initialize = { method: 'initialize', params: { protocolVersion: '2026-01-01', capabilities: {} } };
const answer = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } };
const meta = { 'io.modelcontextprotocol/protocolVersion': '2026-07-28', progressToken: 7 };

function startRecord() {
  const record = createSessionRecord();
  record.asked(initialize);
  record.answered(initialize, answer);
  return record;
}

describe('the record of a session', () => {
  it('[P-3] greets a new server with the handshake of the client, in the version that was agreed on', () => {
    expect(startRecord().greeting).toEqual({
      era: 'legacy',
      initialize: { method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {} } },
    });
  });

  it('[P-3] keeps a handshake that failed, and is not established by it', () => {
    const record = createSessionRecord();
    record.asked(initialize);
    expect([record.established, record.greeting.era]).toEqual([false, 'legacy']);
  });

  it('[P-3] has nothing to greet with before the client has said anything', () => {
    expect(createSessionRecord().greeting).toEqual({ era: 'unknown' });
  });

  it('[P-3] begins anew with another handshake', () => {
    const record = startRecord();
    record.noteInitialized();
    record.answered({ method: 'resources/subscribe', params: { uri: 'a' } }, {});
    record.answered({ method: 'tools/list', params: {} }, { tools: [] });
    record.answered(initialize, answer);
    expect([record.initialized, record.restoring(), record.lists.methods]).toEqual([false, [], []]);
  });

  it('[P-3] keeps its handshake when another one is refused', () => {
    const record = startRecord();
    record.asked({ method: 'initialize', params: { protocolVersion: 'x' } });
    expect(record.greeting).toMatchObject({ initialize: { params: { protocolVersion: '2025-11-25' } } });
  });

  it('[P-3] restores the last log level and the subscriptions that stand', () => {
    const record = startRecord();
    record.answered({ method: 'logging/setLevel', params: { level: 'debug' } }, {});
    record.answered({ method: 'logging/setLevel', params: { level: 'error' } }, {});
    for (const uri of ['a', 'b', 'a']) record.answered({ method: 'resources/subscribe', params: { uri } }, {});
    record.answered({ method: 'resources/unsubscribe', params: { uri: 'a' } }, {});
    expect(record.restoring()).toEqual([
      { method: 'logging/setLevel', params: { level: 'error' } },
      { method: 'resources/subscribe', params: { uri: 'b' } },
    ]);
  });

  it('[P-3] names what a new server says of itself otherwise', () => {
    const other = { ...answer, capabilities: {}, protocolVersion: '2025-06-18' };
    expect(startRecord().differences(other)).toEqual(['protocolVersion', 'capabilities']);
    expect(startRecord().differences({ ...answer })).toEqual([]);
  });

  it('[P-3] of the stateless era greets with a question that carries what the requests did, but no progress token', () => {
    const record = createSessionRecord();
    const request = { method: 'tools/list', params: { _meta: meta } };
    record.asked(request);
    expect(record.established).toBe(false);
    record.answered(request, { tools: [] });
    const { progressToken: _, ...kept } = meta;
    expect(record.greeting).toEqual({
      era: 'modern',
      discover: { method: 'server/discover', params: { _meta: kept } },
    });
    expect(record.requestParams).toEqual({ _meta: kept });
  });
});

describe('the tools of a server', () => {
  const tools = [
    { name: 'peek', annotations: { readOnlyHint: true } },
    { name: 'put', annotations: { idempotentHint: true, destructiveHint: true } },
    { name: 'act', annotations: { destructiveHint: true } },
    { name: 'mild', annotations: { readOnlyHint: false, destructiveHint: false } },
    { name: 'plain' },
    'no tool',
  ];

  it.each([
    ['peek', 'readOnly'],
    ['put', 'idempotent'],
    ['act', 'mutating'],
    ['mild', 'mutating'],
    ['plain', undefined],
    ['unheard of', undefined],
  ])('[P-3] [R-12] may do what their annotations say: %s is %s', (tool, effect) => {
    const record = startRecord();
    record.answered({ method: 'tools/list', params: {} }, { tools });
    expect(record.tools.of(tool)).toBe(effect);
  });

  it('[P-3] are learned page by page, and anew from the first page', () => {
    const record = startRecord();
    record.answered({ method: 'tools/list', params: {} }, { tools: tools.slice(0, 1), nextCursor: '1' });
    record.answered({ method: 'tools/list', params: { cursor: '1' } }, { tools: tools.slice(1) });
    expect([record.tools.of('peek'), record.tools.of('put')]).toEqual(['readOnly', 'idempotent']);
    record.answered({ method: 'tools/list', params: {} }, { tools: tools.slice(1) });
    expect(record.tools.of('peek')).toBeUndefined();
  });
});

describe('the lists the client has seen', () => {
  const page = (names: readonly string[], nextCursor?: string) => ({
    tools: names.map((name) => ({ name })),
    ...(nextCursor !== undefined && { nextCursor }),
  });

  it('[P-3] are kept page by page, in order, and anew from the first page', () => {
    const record = startRecord();
    record.answered({ method: 'tools/list', params: {} }, page(['a'], 'x'));
    record.answered({ method: 'tools/list', params: { cursor: 'x' } }, page(['b']));
    const before = record.lists.pages('tools/list');
    expect(before.map(({ next }) => next)).toEqual(['x', undefined]);
    record.answered({ method: 'tools/list', params: {} }, page(['a']));
    expect(record.lists.pages('tools/list')).toEqual([{ digest: before[0]?.digest, next: undefined }]);
  });

  it('[P-3] leave a page out of turn out', () => {
    const record = startRecord();
    record.answered({ method: 'prompts/list', params: { cursor: 'other' } }, { prompts: [] });
    expect(record.lists.methods).toEqual([]);
  });
});
