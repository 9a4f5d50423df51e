import { describe, expect, it } from 'vitest';
import type { McpRelay } from '../../../proxy/wire/mcpRelay.ts';
import type { FailureFacts } from '../../../src/policy/failures/failure.ts';
import { type Asker, Wire } from '../../../proxy/mcp/wire.ts';

const refused: FailureFacts = { kind: 'rate_limit', message: 'HTTP 429', outcome: 'failed', status: 429 };

describe('a wire', () => {
  it('[P-4] tells the one asker whose request will get no answer, once, and goes on', () => {
    const relay = { write: () => true } as Partial<McpRelay> as McpRelay;
    const wire = new Wire(relay, { now: () => 0, nextId: () => 'own', late: () => undefined });
    const heard: string[] = [];
    const asker = (name: string): Asker => ({
      answered: () => heard.push(`${name} answered`),
      lost: ({ message }) => heard.push(`${name} lost: ${message}`),
    });
    for (const id of [1, 2]) wire.ask(asker(`asker ${id}`), { id, key: `n${id}`, line: Buffer.from('{}\n') });
    wire.requestFailed(1, refused);
    wire.requestFailed(1, refused);
    wire.requestFailed('1', refused);
    const answer = { kind: 'answer', key: 'n2', result: {}, error: undefined, flaw: undefined } as const;
    wire.answered('{}\n', answer);
    expect(heard).toEqual(['asker 1 lost: HTTP 429', 'asker 2 answered']);
    expect([...wire.questions]).toEqual([]);
  });
});
