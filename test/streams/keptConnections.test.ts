import { channel } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AnswerCheck } from '../../src/streams/answerCheck.ts';
import { KeptConnections } from '../../src/streams/keptConnections.ts';

function openSocket(alpnProtocol: string | false = false): Socket {
  const socket = Object.assign(new Socket(), { alpnProtocol });
  // As undici does.
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Tells, as undici does, that a request is written to this. */
const write = (socket: unknown): void => channel('undici:client:sendHeaders').publish({ socket });

function ask(kept: KeptConnections, socket: Socket): AnswerCheck {
  const check = new AnswerCheck(kept);
  check.begin();
  write(socket);
  return check;
}

describe('connections that fetch keeps', () => {
  it('[R-14] are listened to once, however often those that share one take turns', () => {
    const socket = openSocket();
    const users = [new KeptConnections(), new KeptConnections(), undefined];
    for (let turn = 0; turn < 30; turn++) {
      const by = users[turn % users.length];
      KeptConnections.used(socket, by);
      by?.freed(socket);
    }
    expect(socket.listenerCount('close')).toBe(1);
  });

  it('[R-14] are left where they speak HTTP/2: requests of the host may be under way over them', () => {
    const socket = openSocket('h2');
    const kept = new KeptConnections();
    ask(kept, socket).drop();
    kept.close();
    expect(socket.destroyed).toBe(false);
  });

  it('[R-14] are not taken for those of a request that was given up before it was written', () => {
    const socket = openSocket();
    const kept = new KeptConnections();
    const given = new AnswerCheck(kept);
    given.begin();
    given.drop();
    // Of the host, in the same turn.
    write(socket);
    kept.close();
    ask(kept, socket).drop();
    kept.close();
    expect(socket.destroyed).toBe(true);
  });

  it('[R-14] end with a request that is given up, and not once it is over or where others are under way', () => {
    const [given, over, ended, shared] = [openSocket(), openSocket(), openSocket(), openSocket('h2')];
    const kept = new KeptConnections();
    ask(kept, given).giveUp();
    const dropped = ask(kept, over);
    dropped.drop();
    dropped.giveUp();
    const answered = ask(kept, ended);
    expect(answered.end()).toBeUndefined();
    answered.giveUp();
    ask(kept, shared).giveUp();
    expect([given, over, ended, shared].map(({ destroyed }) => destroyed)).toEqual([true, false, false, false]);
  });

  it.each(['the same one', 'another one'])('[R-14] are closed where a request was sent again over %s', (which) => {
    const first = openSocket();
    const second = which === 'another one' ? openSocket() : first;
    const kept = new KeptConnections();
    const check = ask(kept, first);
    check.begin();
    write(second);
    check.drop();
    kept.close();
    expect([first.destroyed, second.destroyed]).toEqual([true, true]);
  });

  it.each([undefined, null])('[R-14] end nothing where an undici of the host tells of none: %s', async (socket) => {
    const thrown: unknown[] = [];
    const note = (error: unknown): void => void thrown.push(error);
    process.prependListener('uncaughtException', note);
    onTestFinished(() => void process.off('uncaughtException', note));
    const kept = new KeptConnections();
    new AnswerCheck(kept).begin();
    write(socket);
    await new Promise(setImmediate);
    write(socket);
    await new Promise(setImmediate);
    expect(thrown).toEqual([]);
  });
});
