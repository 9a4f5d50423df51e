import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { AnswerSink } from '../../../proxy/http/answerSink.ts';
import { HttpSessions } from '../../../proxy/http/httpSessions.ts';
import { ReplayBuffer, SessionStream } from '../../../proxy/http/sessionStreams.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

describe('too many sessions', () => {
  it('[P-5] that end make no room before their servers have ended', async () => {
    const ends: (() => void)[] = [];
    const open = () => new Promise<void>((resolve) => ends.push(resolve));
    const clock = new SimulatedClock();
    const sessions = new HttpSessions({ clock, open, server: undefined, sessionMs: 60_000, maxSessions: 2 });
    for (let each = 0; each < 4; each++) sessions.open()?.end();
    expect(sessions.size).toBe(0);
    expect(sessions.open()).toBeUndefined();
    for (const end of ends.splice(0)) end();
    await clock.advance(0);
    expect(sessions.open()).toBeDefined();
  });
});

describe('a session whose client has left its stream', () => {
  it('[P-5] gives its place to another after a minute, and not before', async () => {
    const clock = new SimulatedClock();
    const open = () => new Promise<void>(() => undefined);
    const sessions = new HttpSessions({ clock, open, server: undefined, sessionMs: 600_000, maxSessions: 1 });
    const stream = Object.assign(new EventEmitter(), { writeHead: () => undefined, flushHeaders: () => undefined });
    sessions.open()?.get({}, stream as unknown as ServerResponse);
    stream.emit('close');
    await clock.advance(60_000);
    expect(sessions.open()).toBeUndefined();
    await clock.advance(1);
    expect(sessions.open()).toBeDefined();
  });
});

describe('what is kept for a client', () => {
  it('[P-5] is 1,000 events; a stream of which nothing is left is told', () => {
    const emptied: number[] = [];
    const replay = new ReplayBuffer({ now: () => 0 }, (stream) => emptied.push(stream));
    replay.keep(7, 1, 'x');
    for (let number = 1; number <= 1000; number++) replay.keep(0, number, 'x');
    expect(emptied).toEqual([7]);
    expect(replay.after(0, 0)).toHaveLength(1000);
    replay.keep(0, 1001, 'x');
    expect(replay.after(0, 0)).toHaveLength(1000);
  });
});

describe('a stream of a session', () => {
  it('[P-5] has 8 connections at most: the oldest is ended, the newest is written to', () => {
    const stream = new SessionStream(1, new ReplayBuffer({ now: () => 0 }, () => undefined));
    const told: string[] = [];
    const sink = (name: number) =>
      ({
        isFull: false,
        end: () => told.push(`${name} ended`),
        send: (message: string) => told.push(`${name} ${message}`),
      }) as unknown as AnswerSink;
    for (let each = 0; each < 8; each++) stream.attach(sink(each), false);
    expect(told).toEqual([]);
    stream.attach(sink(8), false);
    stream.send('hi');
    expect(told).toEqual(['0 ended', '8 hi']);
  });
});
