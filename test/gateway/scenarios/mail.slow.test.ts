import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Gateway } from '../../../src/gateway/gatewayTypes.ts';
import { MailPort } from '../../../src/sessions/mailPort.ts';
import type { Session } from '../../../src/sessions/session.ts';
import type { MessageHandler, SessionOptions } from '../../../src/sessions/sessionOptions.ts';
import { PgSessions } from '../../../postgres/pgSessions.ts';
import { hasPostgres } from '../../support/postgresServer.ts';
import { newSchema, type TestSchema } from '../../store/startPostgres.ts';

interface Node {
  readonly gateway: Gateway;
  readonly session: Session;
  /** The texts of the messages that were processed here. */
  readonly seen: string[];
}

interface NodeOptions extends Omit<SessionOptions, 'onMessage'> {
  readonly onMessage?: MessageHandler;
  readonly leaseMs?: number;
}

/** A gateway on the schema, with the session `s`. */
async function node({ url }: TestSchema, options: NodeOptions = {}): Promise<Node> {
  const { onMessage, leaseMs = 60_000, ...more } = options;
  const gateway = createGateway({ store: `${url}&leaseMs=${leaseMs}`, logger: undefined });
  onTestFinished(() => gateway.stop());
  const seen: string[] = [];
  const session = gateway.session('s', {
    ...more,
    onMessage: (message, turn) => {
      seen.push(message.text ?? '');
      return onMessage === undefined ? `did ${message.text}` : onMessage(message, turn);
    },
  });
  await gateway.start();
  return { gateway, session, seen };
}

const user = (text: string) => ({ kind: 'user', text });

describe.skipIf(!hasPostgres)('a message for a session of another node', () => {
  it('[N-3] is acknowledged when it is committed, processed by the owner, and answered to its sender', async () => {
    const schema = await newSchema();
    const [owner, other] = [await node(schema), await node(schema)];
    expect(other.session.heldElsewhere).toBe(true);
    const sent = await other.session.send(user('hello'));
    expect(sent).toMatchObject({ accepted: true, id: 's-x1', durable: true });
    expect(sent.accepted && (await sent.processed)).toEqual({ ok: true, value: 'did hello' });
    expect([owner.seen, other.seen]).toEqual([['hello'], []]);
    expect(owner.session.history.map((entry) => entry.type === 'message' && entry.id)).toEqual(['s-x1']);
  });

  it('[N-3] comes in the order in which it was sent', async () => {
    const schema = await newSchema();
    const [owner, other] = [await node(schema), await node(schema)];
    const texts = Array.from({ length: 20 }, (_, index) => `${index}`);
    const sent = await Promise.all(texts.map((text) => other.session.send(user(text))));
    for (const acceptance of sent) if (acceptance.accepted) await acceptance.processed;
    expect(owner.seen).toEqual(texts);
  });

  it('[N-3] is taken once under its key, whichever node sends it, and every sender hears of it', async () => {
    const schema = await newSchema();
    const [owner, other, third] = [await node(schema), await node(schema), await node(schema)];
    const sent = await other.session.send(user('pay'), { key: 'k' });
    const second = { accepted: false, reason: 'duplicate', id: 's-x1' };
    expect(await third.session.send(user('pay'), { key: 'k' })).toEqual(second);
    expect(sent.accepted && (await sent.processed)).toEqual({ ok: true, value: 'did pay' });
    expect(await owner.session.send(user('pay'), { key: 'k' })).toEqual(second);
    expect(await other.session.send(user('pay'), { key: 'k' })).toEqual(second);
    expect(owner.seen).toEqual(['pay']);
  });

  it('[N-3] of a key that the owner has accepted itself is known elsewhere too', async () => {
    const schema = await newSchema();
    const [owner, other] = [await node(schema), await node(schema)];
    expect(await owner.session.send(user('pay'), { key: 'k' })).toMatchObject({ id: 's-m1' });
    const second = { accepted: false, reason: 'duplicate', id: 's-m1' };
    expect(await other.session.send(user('pay'), { key: 'k' })).toEqual(second);
  });

  it('[N-3] of a key that the owner accepts at the same moment is processed once, as that one: both senders hear of its end', async () => {
    const schema = await newSchema();
    const [owner, other] = [await node(schema), await node(schema)];
    const receive = vi.spyOn(MailPort.prototype, 'receive').mockReturnValue(false);
    const sent = await other.session.send(user('pay'), { key: 'k' });
    const own = await owner.session.send(user('pay'), { key: 'k' });
    expect([sent, own]).toMatchObject([
      { accepted: true, id: 's-x1' },
      { accepted: true, id: 's-m1' },
    ]);
    receive.mockRestore();
    for (const each of [sent, own]) {
      expect(each.accepted && (await each.processed)).toMatchObject({ ok: true });
    }
    expect(owner.seen).toEqual(['pay']);
    expect(owner.session.history.map((entry) => entry.type === 'message' && entry.id)).toEqual(['s-m1']);
    const second = { accepted: false, reason: 'duplicate', id: 's-m1' };
    for (const { session } of [owner, other]) expect(await session.send(user('pay'), { key: 'k' })).toEqual(second);
  });

  it('[N-3] tells its sender of a failure, and of a result as far as JSON goes', async () => {
    const schema = await newSchema();
    const onMessage: MessageHandler = ({ text }) => {
      if (text === 'fail') throw new Error('the disk is full');
      return { at: new Date(0), self: text === 'cycle' ? process : undefined, run: () => 1 };
    };
    await node(schema, { onMessage });
    const other = await node(schema);
    const ends = async (text: string) => {
      const sent = await other.session.send(user(text));
      return sent.accepted ? sent.processed : sent;
    };
    expect(await ends('fail')).toMatchObject({
      ok: false,
      failure: { message: 'the disk is full', integration: 'session:s' },
    });
    expect(await ends('fine')).toEqual({ ok: true, value: { at: '1970-01-01T00:00:00.000Z' } });
    expect(await ends('cycle')).toMatchObject({ ok: true });
  });

  it('[N-3] [G-11] goes on with the next owner where its turn was cut, and its sender, who has it then, hears of the end', async () => {
    const schema = await newSchema();
    let begun = (): void => undefined;
    const isBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const onMessage: MessageHandler = (_, { signal }) => {
      begun();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('cut')));
      });
    };
    const [owner, other] = [await node(schema, { onMessage, leaseMs: 600 }), await node(schema, { leaseMs: 600 })];
    const sent = await other.session.send(user('long'));
    await isBegun;
    await owner.gateway.stop();
    expect(sent.accepted && (await sent.processed)).toEqual({ ok: true, value: 'did long' });
    expect(new Set(other.session.history.map((entry) => entry.type === 'message' && entry.id))).toEqual(
      new Set(['s-x1']),
    );
    const last = await other.session.send(user('own'));
    expect(last).toMatchObject({ accepted: true, id: 's-m2' });
  });

  it('[N-3] is not waited for any more by a sender that stops', async () => {
    const schema = await newSchema();
    await node(schema, { onMessage: () => new Promise(() => undefined), watchdog: { turnMs: 60_000, releaseMs: 10 } });
    const other = await node(schema);
    const sent = await other.session.send(user('long'));
    await other.gateway.stop();
    expect(sent.accepted && (await sent.processed)).toMatchObject({
      ok: false,
      failure: { kind: 'cancelled', reason: 'stopped', outcome: 'unknown' },
    });
  });

  it('[N-3] [I-5] is refused where too many wait: nothing acknowledged is dropped', async () => {
    const schema = await newSchema();
    const release: (() => void)[] = [];
    const onMessage: MessageHandler = () => new Promise<void>((resolve) => release.push(resolve));
    const owner = await node(schema, { onMessage, mailbox: { limit: 2 } });
    const other = await node(schema, { mailbox: { limit: 2 } });
    const accepted = new Set<string>();
    const refused: string[] = [];
    while (refused.length < 3) {
      const sent = await other.session.send(user(`${accepted.size}`));
      if (sent.accepted) accepted.add(sent.id);
      else refused.push(sent.reason);
    }
    expect(new Set(refused)).toEqual(new Set(['mailbox_full']));
    // One is processed, two wait in the mailbox, and two as mail; of what comes while they are taken, a few more.
    expect(accepted.size).toBeLessThanOrEqual(5);
    for (const _ of accepted) {
      await expect.poll(() => release.length).toBe(1);
      release.pop()?.();
    }
    await expect.poll(() => owner.seen).toEqual(Array.from(accepted, (_, index) => `${index}`));
  });

  it('[N-2] [N-3] is not processed by a node that could not find out whose it is, but when it has claimed it', async () => {
    const schema = await newSchema();
    const claim = vi.spyOn(PgSessions.prototype, 'claim').mockResolvedValue(undefined);
    const { session, seen } = await node(schema, { leaseMs: 2_000 });
    expect(session.heldElsewhere).toBe(true);
    const sent = await session.send(user('early'));
    expect(sent).toMatchObject({ accepted: true, id: 's-x1', durable: true });
    claim.mockRestore();
    expect(sent.accepted && (await sent.processed)).toEqual({ ok: true, value: 'did early' });
    expect([session.heldElsewhere, seen]).toEqual([false, ['early']]);
    expect(await session.send(user('own'))).toMatchObject({ id: 's-m2' });
  });

  it('[N-6] and that nobody takes is told of by every gateway on the store', async () => {
    const schema = await newSchema();
    const { gateway } = await node(schema);
    expect(gateway.untaken()).toEqual([]);
    await schema.ask(`INSERT INTO uw.mail (session, body, posted_at, sender, sent_at)
      VALUES ('gone', '{"kind":"user"}', 0, 'nobody', clock_timestamp() - interval '40 s')`);
    await expect.poll(() => gateway.untaken()).toMatchObject([{ session: 'gone', here: false }]);
    expect(gateway.untaken()[0]?.waitMs).toBeGreaterThanOrEqual(40_000);
  });
});
