import { describe, expect, it } from 'vitest';
import type { Acceptance } from '../../../src/sessions/acceptance.ts';
import { Outbox } from '../../../src/sessions/mailPort.ts';
import type { Mailed, OutgoingMail, SessionMail } from '../../../src/sessions/sessionMail.ts';
import type { SessionScope } from '../../../src/sessions/sessionScope.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

/** An outbox whose mail the test keeps, or not, when it wants. */
function start() {
  const posts: { readonly mail: OutgoingMail; readonly answer: (mailed: Mailed) => void }[] = [];
  const order: string[] = [];
  let isHeld = true;
  let taken: () => void = () => undefined;
  const mail: SessionMail = {
    post: (each) => new Promise((answer) => posts.push({ mail: each, answer })),
    serve: () => undefined,
    look: async () => void order.push('look'),
    oldest: [],
  };
  const clock = new SimulatedClock();
  const scope = { id: 's', clock, mailbox: { limit: 10 } };
  const outbox = new Outbox(scope as unknown as SessionScope, mail, {
    held: () => isHeld,
    taken: () =>
      new Promise<void>((resolve) => {
        taken = () => {
          order.push('taken');
          resolve();
        };
      }),
  });
  const send = (text: string): Promise<Acceptance> =>
    outbox.inLine(async () => {
      order.push(text);
      return { accepted: false, reason: 'stopped' };
    });
  return {
    ...{ posts, order, outbox, clock, send },
    own: () => (isHeld = false),
    taken: () => taken(),
    kept: (index: number) => posts[index]?.answer({ mailed: 'kept', mail: index + 1 }),
  };
}

const message = { kind: 'user' };

describe('the outbox of a session', () => {
  it('[N-3] has a message of a new owner wait until what it sent as mail before is in the mailbox', async () => {
    const { outbox, own, kept, taken, send, order, clock } = start();
    void outbox.post(message, undefined);
    expect(outbox.overtakes).toBe(false);
    own();
    expect(outbox.overtakes).toBe(true);
    const sent = [send('1'), send('2')];
    await clock.settle();
    expect(order).toEqual([]);
    kept(0);
    await clock.settle();
    expect(order).toEqual(['look']);
    taken();
    await Promise.all(sent);
    expect(order).toEqual(['look', 'taken', '1', '2']);
    expect(outbox.overtakes).toBe(false);
  });

  it('[N-3] lets nothing wait where its mail was kept before the session was its own: the claim took it', async () => {
    const { outbox, own, kept } = start();
    const posted = outbox.post(message, undefined);
    kept(0);
    await posted;
    own();
    expect(outbox.overtakes).toBe(false);
  });

  it('[N-3] does not wait for mail that was not kept', async () => {
    const { outbox, own, posts, send, order } = start();
    const posted = outbox.post(message, undefined);
    own();
    const sent = send('1');
    posts[0]?.answer({ mailed: 'not_kept' });
    expect(await posted).toEqual({ mailed: 'not_kept' });
    await sent;
    expect(order).toEqual(['1']);
  });

  it('[N-3] answers its senders when their messages have ended, and the others when it closes', async () => {
    const { outbox, posts, kept } = start();
    const posted = [1, 2, 3].map(() => outbox.post(message, undefined));
    kept(0);
    kept(1);
    const [first, second] = await Promise.all(posted.slice(0, 2));
    posts[0]?.mail.ended({ ok: true, value: 7 });
    outbox.close();
    kept(2);
    const third = await posted[2];
    const ends = [first, second, third].map((each) =>
      each !== undefined && 'processed' in each ? each.processed : Promise.resolve(undefined),
    );
    const stopped = {
      ok: false,
      failure: {
        ...{ reason: 'stopped', outcome: 'unknown' },
        message:
          'This gateway stops, and does not hear how the message ends; the gateway that has its session processes it',
      },
    };
    expect(await Promise.all(ends)).toMatchObject([{ ok: true, value: 7 }, stopped, stopped]);
    posts[1]?.mail.ended({ ok: true, value: 8 });
    expect(await ends[1]).toMatchObject(stopped);
  });
});
