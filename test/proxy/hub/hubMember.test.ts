import type { Readable, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { HubMember } from '../../../proxy/hub/hubMember.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

const greeting = { protocolVersion: '2025-11-25' };

/** A server that answers what the test says, and reads while it is to. */
function start() {
  const clock = new SimulatedClock();
  const lines: string[] = [];
  const said: string[] = [];
  let joined = 0;
  let server: { readonly input: Readable; readonly output: Writable } | undefined;
  let end = (): void => undefined;
  let startFailed = (): void => undefined;
  let lastId = 0;
  const member = new HubMember(
    {
      name: 'kb',
      open: (streams) => {
        server = streams;
        startFailed = () => streams.startFailed?.();
        return new Promise((resolve) => (end = resolve));
      },
    },
    {
      clock,
      nextId: () => `hub-${++lastId}`,
      heard: () => undefined,
      joined: () => joined++,
      say: (line) => said.push(line),
      room: () => undefined,
    },
  );
  return {
    ...{ clock, member, lines, said },
    read: () => server?.input.on('data', (chunk) => lines.push(...String(chunk).trimEnd().split('\n'))),
    answers: (message: object) => server?.output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
    ends: () => end(),
    fails: () => startFailed(),
    joined: () => joined,
  };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('a server of a hub', () => {
  it('[P-8] that has ended answers no question any more, and those that wait are told', async () => {
    const { member, ends } = start();
    const asked = member.ask('tools/list', {});
    ends();
    expect((await asked).answer.error).toMatchObject({ message: 'it has ended' });
    expect(member.send('{}')).toBe(false);
    expect((await member.comesUp()) === 'up').toBe(true);
  });

  it('[P-8] is told once that the client is ready, whenever it comes up', async () => {
    const { member, lines, read, answers, joined } = start();
    read();
    const greeted = member.greet('initialize', greeting);
    member.clientReady();
    await turn();
    expect(lines.filter((line) => line.includes('initialized'))).toEqual([]);
    answers({ id: 'hub-1', result: { capabilities: {} } });
    await greeted;
    member.clientReady();
    await turn();
    expect(lines.filter((line) => line.includes('initialized'))).toHaveLength(1);
    expect(joined()).toBe(1);
  });

  it('[P-8] that does not read is sent no more than 16 MB, and the rest is refused', async () => {
    const { member, lines, read } = start();
    const megabyte = 'x'.repeat(1024 * 1024);
    for (let sent = 0; sent < 17; sent++) expect(member.send(megabyte)).toBe(true);
    expect(member.send('{}')).toBe(false);
    expect((await member.ask('ping', {})).answer.error).toMatchObject({ message: 'it has too much to read already' });
    read();
    await expect.poll(() => lines.join('').length).toBe(17 * megabyte.length);
    expect(member.send('{}')).toBe(true);
  });

  it('[P-8] that does not come up is greeted again after 15 s, or when it is asked for', async () => {
    const { member, clock, lines, said, read, answers } = start();
    read();
    const greeted = member.greet('initialize', greeting);
    answers({ id: 'hub-1', error: { code: -32_603, message: 'not today' } });
    await greeted;
    expect(said).toEqual(['kb does not answer for now: not today']);
    await clock.advance(14_999);
    expect(lines).toHaveLength(1);
    await clock.advance(1);
    await turn();
    expect(lines).toHaveLength(2);
    answers({ id: 'hub-2', error: { code: -32_603, message: 'not yet' } });
    await turn();
    const up = member.comesUp();
    await turn();
    expect(lines).toHaveLength(3);
    answers({ id: 'hub-3', result: {} });
    expect(await up).toBe('up');
    await clock.advance(60_000);
    expect(lines).toHaveLength(3);
  });

  it('[P-8] is settled with its answer, or a second after the first start that failed', async () => {
    const { member, clock, read, answers, fails } = start();
    read();
    const settled: string[] = [];
    const settle = (name: string) => void member.settles(greeting).then(() => settled.push(name));
    settle('answered');
    await clock.advance(10_000);
    expect(settled).toEqual([]);
    answers({ id: 'hub-1', result: {} });
    await turn();
    expect(settled).toEqual(['answered']);
    settle('failed');
    fails();
    await clock.advance(500);
    fails();
    await clock.advance(499);
    expect(settled).toEqual(['answered']);
    await clock.advance(1);
    await turn();
    expect(settled).toEqual(['answered', 'failed']);
  });

  it.each(['end', 'over'] as const)(
    '[P-8] [I-3] leaves no timer after its %s, whose start fails by that',
    async (how) => {
      const { member, clock, fails } = start();
      void member.settles(greeting);
      member[how]();
      fails();
      await turn();
      expect(clock.pending).toBe(0);
    },
  );
});
