import { describe, expect, it } from 'vitest';
import { createFactRedactor } from '../../src/redaction/redactFact.ts';
import { storedEvent, storedTypes } from '../../src/store/record.ts';
import { failed, told } from './startStore.ts';

describe('what is stored of a fact', () => {
  it('[O-1] is integration/failure for a failed call, without a stack where none was thrown', () => {
    expect(storedEvent(failed(1, { session: 'agent:main' }))).toEqual({
      category: 'integration',
      eventType: 'failure',
      metadata: {
        integration: 'kb',
        error: 'no answer within 30 s',
        stack: null,
        retry_count: 3,
        kind: 'timeout',
        outcome: 'unknown',
        retryable: true,
        call: 'call-1',
        session: 'agent:main',
        elapsed_ms: 120_000,
      },
    });
  });

  it('[O-1] says of a failed call what its integration is, and where the limit was set that passed', () => {
    const about = { integrationType: 'claude', provider: 'anthropic', model: 'opus', tool: 'ask' } as const;
    const limit = 'idleMs 30s, set by the policy of kb';
    const { metadata } = storedEvent(failed(1, { ...about, limit })) ?? {};
    expect(metadata).toMatchObject({ type: 'claude', provider: 'anthropic', model: 'opus', tool: 'ask', stack: limit });
    expect(storedEvent(failed(1, { limit, stack: 'at x' }))?.metadata).toMatchObject({ stack: 'at x' });
  });

  it('[O-1] [R-12] says of a failed call what it may do to the world, where that is known', () => {
    const { failure } = failed(1);
    expect(storedEvent(failed(1, { failure: { ...failure, effect: 'readOnly' } }))?.metadata).toMatchObject({
      outcome: 'unknown',
      effect: 'readOnly',
    });
    expect(storedEvent(failed(1))?.metadata['effect']).toBeUndefined();
  });

  it('[O-1] is hook/error for a failed hook', () => {
    const fact = told({
      type: 'hook.failed',
      hook: 'audit',
      event: 'tool',
      action: 'before',
      error: 'no',
      stack: 'at x',
    });
    expect(storedEvent(fact)).toEqual({
      category: 'hook',
      eventType: 'error',
      metadata: {
        hook_name: 'audit',
        event_type: 'tool',
        event_action: 'before',
        session_key: null,
        error: 'no',
        stack: 'at x',
      },
    });
  });

  it('[O-1] is mcp/tool_error for a failed MCP tool', () => {
    const fact = told({ type: 'mcp.tool_failed', integration: 'kb', tool: 'ask', input: { q: 1 }, error: 'no' });
    expect(storedEvent(fact)).toEqual({
      category: 'mcp',
      eventType: 'tool_error',
      metadata: { tool_name: 'ask', input: { q: 1 }, error: 'no', integration: 'kb' },
    });
  });

  it('[I-4] is integration/refused for a refusal, with the count of those not told', () => {
    const call = { integration: 'kb', call: 'call-9', kind: 'circuit_open', message: 'open', refused: 4 } as const;
    expect(storedEvent(told({ type: 'call.refused', ...call, retryAfterMs: 100 }))).toEqual({
      category: 'integration',
      eventType: 'refused',
      metadata: {
        integration: 'kb',
        error: 'open',
        call: 'call-9',
        kind: 'circuit_open',
        refused: 4,
        retry_after_ms: 100,
      },
    });
  });

  it('[O-1] has the names of facts in snake case, without type and time', () => {
    expect(
      storedEvent(told({ type: 'breaker.opened', integration: 'kb', openForMs: 60_000, kind: 'timeout' })),
    ).toEqual({
      category: 'breaker',
      eventType: 'opened',
      metadata: { integration: 'kb', open_for_ms: 60_000, kind: 'timeout' },
    });
  });

  it('[R-10] is nothing for a retry, a success and the noise of every call', () => {
    const left = ['call.retried', 'call.succeeded', 'integration.changed', 'process.stray_output'];
    expect(storedTypes.filter((type) => left.includes(type))).toEqual([]);
  });

  it('[I-4] is a note for a fact that cannot be read', () => {
    // @ts-expect-error a failure is missing
    expect(storedEvent({ type: 'call.failed', at: 1, integration: 'kb' })).toMatchObject({
      category: 'store',
      eventType: 'unreadable_fact',
    });
  });

  it('is nothing for a type it does not know', () => {
    // @ts-expect-error no such type
    expect(storedEvent({ type: 'no.such', at: 1 })).toBeUndefined();
  });
});

describe('a stored duration', () => {
  it('[O-1] is a whole number of milliseconds', () => {
    const told = { type: 'integration.restarted', integration: 'kb', downMs: 12.6, at: 1 } as const;
    const event = storedEvent(createFactRedactor()(told));
    expect(event?.metadata).toMatchObject({ down_ms: 13 });
  });
});

describe('a heartbeat', () => {
  const turn = { session: 'agent:main', turn: 1, message: 'm1', at: 1 };

  it('[O-1] that went well is not stored', () => {
    expect(storedEvent({ ...turn, type: 'session.turn_started', kind: 'heartbeat' })).toBeUndefined();
    expect(
      storedEvent({ ...turn, type: 'session.turn_ended', kind: 'heartbeat', ok: true, elapsedMs: 1 }),
    ).toBeUndefined();
  });

  it('[O-1] [I-4] that failed is stored, as every other turn is', () => {
    const failed = storedEvent({
      ...turn,
      type: 'session.turn_ended',
      kind: 'heartbeat',
      ok: false,
      elapsedMs: 1,
      error: 'x',
    });
    expect(failed).toMatchObject({ category: 'session', eventType: 'turn_ended', metadata: { ok: false } });
    expect(storedEvent({ ...turn, type: 'session.turn_ended', kind: 'user', ok: true, elapsedMs: 1 })).toBeDefined();
  });
});
