import { describe, expect, it } from 'vitest';
import { AcpTurnEvents } from '../../../../agents/conversation/acp/acpEvents.ts';
import type { Sink } from '../../../../agents/conversation/agentStream.ts';

type Event = Parameters<Sink>[0];

describe('updates of an agent as events', () => {
  it('[A-4] [U-4] a tool begins and ends once, however often its agent says so', () => {
    const told: Event[] = [];
    const events = new AcpTurnEvents((event) => told.push(event));
    for (const status of ['pending', 'in_progress', 'completed', 'completed', 'failed'])
      events.heard({ sessionUpdate: 'tool_call_update', toolCallId: 'a', title: 'look', kind: 'read', status });
    expect(told).toMatchObject([{ type: 'tool.started' }, { type: 'tool.ended', ok: true }]);
    expect(events).toMatchObject({ effects: 'none', tools: 1 });
  });

  it('[A-4] [U-4] a tool that turns out to change something may have had an effect', () => {
    const events = new AcpTurnEvents(() => undefined);
    events.heard({ sessionUpdate: 'tool_call', toolCallId: 'a', title: 'look', kind: 'read' });
    events.heard({ sessionUpdate: 'tool_call_update', toolCallId: 'a', kind: null, status: 'in_progress' });
    expect(events.effects).toBe('none');
    events.heard({ sessionUpdate: 'tool_call_update', toolCallId: 'a', kind: 'edit', status: 'completed' });
    expect(events.effects).toBe('possible');
  });
});
