import { describe, expect, it } from 'vitest';
import {
  checkSessionDefaults,
  type SessionDefaults,
  withSessionDefaults,
} from '../../../src/sessions/sessionOptions.ts';

const onMessage = (): void => undefined;

describe('the defaults of sessions', () => {
  it('[G-6] hold where the session says nothing, figure by figure', () => {
    const defaults = checkSessionDefaults({
      watchdog: { toolCallMs: 1, turnMs: 2 },
      historyLimit: 3,
      mailbox: { limit: 4 },
    });
    expect(withSessionDefaults({ onMessage, watchdog: { turnMs: 5, toolCallMs: undefined } }, defaults)).toEqual({
      onMessage,
      watchdog: { toolCallMs: 1, turnMs: 5 },
      historyLimit: 3,
      mailbox: { limit: 4 },
      recovery: undefined,
    });
    expect(withSessionDefaults({ onMessage, historyLimit: 6 }, defaults).historyLimit).toBe(6);
  });

  it('leave options alone where there are none', () => {
    const options = { onMessage };
    expect(withSessionDefaults(options, checkSessionDefaults())).toBe(options);
  });

  it('leave what is wrong in the options for their check', () => {
    const wrong = { onMessage, watchdog: null, mailbox: 5, historyLimit: null } as never;
    expect(
      withSessionDefaults(wrong, { watchdog: { turnMs: 5 }, mailbox: { limit: 5 }, historyLimit: 5 }),
    ).toMatchObject(wrong);
    expect(withSessionDefaults(null as never, { historyLimit: 5 })).toBe(null);
  });

  it.each([
    [{ watchdog: { turnMs: 0 } }, '`sessions.watchdog.turnMs`'],
    [{ watchdog: { releaseMs: 30_000 } }, '`sessions.watchdog.recoveryMs` to be a duration above `releaseMs` (30s)'],
    [{ recovery: { maxDeliveries: 0 } }, '`sessions.recovery.maxDeliveries`'],
    [{ recovery: { maxAge: 5 } }, 'did you mean maxAgeMs?'],
    [{ mailbox: { limit: 0 } }, '`sessions.mailbox.limit`'],
    [{ mailbox: { heartbeats: 'drop' } }, '`sessions.mailbox.heartbeats`'],
    [{ historyLimit: 0 }, '`sessions.historyLimit`'],
    [{ onMessage }, '`sessions.onMessage`'],
  ])('are refused by name: %j', (options, message) => {
    expect(() => checkSessionDefaults(options as SessionDefaults)).toThrow(message);
    expect(() => checkSessionDefaults(options as SessionDefaults)).toThrow(RangeError);
  });
});
