import { describe, expect, it } from 'vitest';
import { MessageLog } from '../../../testing/demo/messageLog.ts';

describe('the log of messages', () => {
  it('[G-4] has no complaint when messages are processed in the order of sending', () => {
    const log = new MessageLog();
    for (const kind of ['heartbeat', 'user', 'heartbeat'] as const) log.took(kind, log.send(kind));
    expect(log.problems).toEqual([]);
    expect(log.tally).toEqual({ sent: 3, heartbeats: 2, duringRetries: 0 });
    expect(log.heartbeatsProcessed).toBe(2);
  });

  it('[G-4] names a message that overtook another', () => {
    const log = new MessageLog();
    const [first, second] = [log.send('heartbeat'), log.send('heartbeat')];
    log.took('heartbeat', second);
    log.took('heartbeat', first);
    expect(log.problems).toContain('message 2 was processed after message 0');
  });

  it('counts the messages that were not processed', () => {
    const log = new MessageLog();
    log.took('user', log.send('user'));
    log.send('heartbeat');
    expect(log.problems).toEqual(['1 of 2 messages were not processed']);
  });

  it('[G-4] counts the heartbeats that are sent during a retry, up to the end of its turn', () => {
    const log = new MessageLog();
    log.send('heartbeat');
    log.retrying();
    log.send('heartbeat');
    log.send('user');
    log.turnEnded();
    log.send('heartbeat');
    expect(log.tally.duringRetries).toBe(1);
  });

  it('[G-4] names a message that was processed during a retry', () => {
    const log = new MessageLog();
    log.retrying();
    log.took('heartbeat', log.send('heartbeat'));
    expect(log.problems).toEqual(['message 1 was processed during a retry']);
  });
});
