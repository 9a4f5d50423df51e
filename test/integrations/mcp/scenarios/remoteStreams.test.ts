import { describe, expect, it } from 'vitest';
import { skipUntil, type StartedRemote, startRemote } from '../startRemote.ts';

const find = { name: 'find', arguments: { text: 'x' } };

/** How often the server was asked for a standing stream within a minute. */
async function streamsInAMinute({ server, clock, kb }: StartedRemote): Promise<number> {
  await server.until(() => server.requests('GET') === 1);
  for (let second = 0; second < 60; second++) {
    // As long as these take, a stream that is asked for at once is asked for.
    for (let call = 0; call < 2; call++) expect(await kb.call({ name: 'echo' })).toMatchObject({ ok: true });
    clock.skip(1000);
  }
  return server.requests('GET');
}

describe('the standing stream of a remote server', () => {
  it('[P-4] is not asked for again where there is none', async () => {
    const started = await startRemote({ faults: [{ on: 'GET', do: 'status', status: 405 }] });
    expect(await streamsInAMinute(started)).toBe(1);
  });

  it('[P-4] is not asked for again where something else is', async () => {
    const started = await startRemote({ faults: [{ on: 'GET', do: 'html' }] });
    expect(await streamsInAMinute(started)).toBe(1);
  });

  it('[P-4] is no storm when it ends at once, whatever the server asks for', async () => {
    const started = await startRemote({ faults: [{ on: 'GET', do: 'lost_stream', primed: true, retryMs: 0 }] });
    // 1, 2, 4, 8, 16 and 30 s, and what the machine itself takes.
    expect(await streamsInAMinute(started)).toBeLessThanOrEqual(7);
  });

  it('[P-4] is opened again after it ended, and the list is asked for anew', async () => {
    const { kb, server, clock, told } = await startRemote({ tools: ['find'] });
    await server.until(() => server.standingStreams === 1);
    server.setFaults([{ on: 'GET', nth: 1, do: 'status', status: 503 }]);
    server.endStreams();
    await server.until(() => server.standingStreams === 0);
    server.setTools(['find', 'other']);
    clock.skip(1000);
    await server.until(() => server.requests('GET') === 2);
    await skipUntil(
      clock,
      server.until(() => server.standingStreams === 1),
    );
    clock.skip(200);
    expect(await told('mcp.tools_changed')).toMatchObject({ added: ['other'] });
    expect(kb.knownTools?.current).toBe(true);
    expect(server.requests('initialize')).toBe(1);
  });

  it('[P-4] is opened again when it is half-open: accepted, then silent for five minutes while the server answers', async () => {
    const faults = [{ on: 'GET', nth: 1, do: 'silent_stream' }] as const;
    const { kb, server, clock, told } = await startRemote({ tools: ['find'], faults });
    await server.until(() => server.requests('GET') === 1);
    // By the time that these are answered, its headers have been read.
    for (let call = 0; call < 2; call++) expect(await kb.call(find)).toMatchObject({ ok: true });
    clock.skip(290_000);
    expect(await kb.call(find)).toMatchObject({ ok: true });
    expect(server.requests('ping')).toBe(0);
    clock.skip(10_000);
    await server.until(() => server.requests('ping') === 1);
    server.setTools(['find', 'other']);
    await skipUntil(
      clock,
      server.until(() => server.requests('GET') === 2),
      250,
    );
    expect(await skipUntil(clock, told('mcp.tools_changed'))).toMatchObject({ added: ['other'] });
    expect(server.requests('initialize')).toBe(1);
  });

  it('[P-4] has the list asked for anew where that was answered before it stood', async () => {
    const { server, clock, told } = await startRemote({
      tools: ['find'],
      faults: [{ on: 'GET', nth: 1, do: 'status', status: 503 }],
    });
    await server.until(() => server.requests('GET') === 1);
    expect(server.standingStreams).toBe(0);
    server.setTools(['find', 'other']);
    await skipUntil(
      clock,
      server.until(() => server.standingStreams === 1),
    );
    expect(await skipUntil(clock, told('mcp.tools_changed'))).toMatchObject({ added: ['other'] });
  });

  it('[P-4] brings what the server says of its tools', async () => {
    const { server, told } = await startRemote({ tools: ['find'] });
    await server.until(() => server.standingStreams === 1);
    server.setTools(['other']);
    expect(await told('mcp.tools_changed')).toMatchObject({ added: ['other'], removed: ['find'] });
  });
});

describe('an answer whose stream breaks', () => {
  it('[P-4] is resumed by the last event ID, and the tool runs once', async () => {
    const { kb, server } = await startRemote({
      eventIds: true,
      faults: [{ tool: 'find', do: 'lost_stream', retryMs: 10 }],
    });
    expect(await kb.call(find)).toMatchObject({ ok: true });
    expect(server.ran('find')).toBe(1);
    expect(server.requests('resume')).toBe(1);
  });

  it.each([404, 405])(
    '[P-4] is lost at once when the server answers the question for the rest with %i',
    async (status) => {
      const { kb, server } = await startRemote({
        eventIds: true,
        faults: [
          { tool: 'find', do: 'lost_stream', retryMs: 10 },
          { on: 'resume', do: 'status', status },
        ],
      });
      const failure = { kind: 'crash', reason: 'connection_lost', outcome: 'unknown' };
      expect(await kb.call(find)).toMatchObject({ ok: false, failure });
      expect(server.requests('resume')).toBe(1);
    },
  );

  it('[P-4] is lost when the question for the rest hangs', async () => {
    const { kb, server, clock } = await startRemote({
      eventIds: true,
      faults: [
        { tool: 'find', do: 'lost_stream', retryMs: 10 },
        { on: 'resume', do: 'no_headers' },
      ],
    });
    const outcome = kb.call(find);
    await server.until(() => server.requests('resume') === 1);
    clock.skip(10_000);
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'crash', outcome: 'unknown' } });
  });

  it('[P-4] is not asked for for ever when each of the streams ends at once', async () => {
    const { kb, server, clock } = await startRemote({
      eventIds: true,
      faults: [
        { tool: 'find', do: 'lost_stream', retryMs: 10 },
        { on: 'resume', do: 'lost_stream', retryMs: 0, primed: false },
      ],
    });
    expect(await skipUntil(clock, kb.call(find))).toMatchObject({ ok: false });
    expect(server.requests('resume')).toBeLessThanOrEqual(6);
  });
});

describe('a call of a remote tool that is given up', () => {
  it.each(['sessions', 'stateless'] as const)('[P-4] [I-3] leaves nothing open (%s)', async (era) => {
    const { kb, server } = await startRemote({ era, faults: [{ tool: 'find', do: 'no_headers' }] });
    const standing = era === 'sessions' ? 1 : 0;
    const giveUp = new AbortController();
    const calls = Array.from({ length: 5 }, () => kb.call(find, { signal: giveUp.signal }));
    await server.until(() => server.ran('find') === 5);
    giveUp.abort();
    expect((await Promise.all(calls)).map((outcome) => outcome.ok)).toEqual([false, false, false, false, false]);
    await server.until(() => server.openResponses <= Math.max(standing, server.standingStreams));
    expect(server.requests('notifications/cancelled')).toBe(era === 'sessions' ? 5 : 0);
    expect(await kb.call({ name: 'echo' })).toMatchObject({ ok: true });
  });
});

describe('a remote server that hangs', () => {
  it('[P-4] is found out by a ping, and its calls end', async () => {
    const { kb, server, clock, told } = await startRemote({ tools: ['find'] });
    server.blackHole();
    const outcome = kb.call(find, { maxAttempts: 1 });
    await new Promise((resolve) => setImmediate(resolve));
    clock.skip(30_000);
    expect(await outcome).toMatchObject({ ok: false, failure: { kind: 'timeout', outcome: 'unknown' } });
    expect(await skipUntil(clock, told('process.exited'))).toMatchObject({ process: 'mcp:kb', reason: 'hang' });
    server.heal();
    expect(await kb.call(find, { effect: 'readOnly' })).toMatchObject({ ok: true });
  });

  it('[P-4] that only takes its time is not', async () => {
    const { kb, server, clock, facts } = await startRemote(
      { faults: [{ tool: 'find', nth: 1, do: 'hold' }] },
      { whenAlive: 'wait' },
    );
    const outcome = kb.call(find);
    await server.until(() => server.ran('find') === 1);
    clock.skip(30_000);
    await server.until(() => server.requests('ping') === 1);
    server.release();
    expect(await outcome).toMatchObject({ ok: true });
    expect(facts.map(({ type }) => type)).not.toContain('process.exited');
  });
});

describe('a remote server of the stateless era', () => {
  it('[P-4] is found out, called, and listened to', async () => {
    const { server, told, kb } = await startRemote({ era: 'stateless', tools: ['find'] });
    expect(await kb.call(find)).toMatchObject({ ok: true });
    await server.until(() => server.standingStreams === 1);
    server.setTools(['other']);
    expect(await told('mcp.tools_changed')).toMatchObject({ added: ['other'] });
    expect(server.requests('initialize')).toBe(0);
    expect(server.requests('GET')).toBe(0);
  });

  it('[P-4] is listened to again when it ends that, and the list is asked for anew', async () => {
    const { server, clock, told } = await startRemote({ era: 'stateless', tools: ['find'] });
    await server.until(() => server.standingStreams === 1);
    server.endStreams();
    await server.until(() => server.standingStreams === 0);
    server.setTools(['find', 'other']);
    await skipUntil(
      clock,
      server.until(() => server.standingStreams === 1),
    );
    clock.skip(200);
    expect(await told('mcp.tools_changed')).toMatchObject({ added: ['other'] });
  });

  it('[P-4] is asked for its list anew where that was answered before it was listened to', async () => {
    const { server, clock, told } = await startRemote({
      era: 'stateless',
      tools: ['find'],
      faults: [{ on: 'subscriptions/listen', nth: 1, do: 'status', status: 503 }],
    });
    await server.until(() => server.requests('subscriptions/listen') === 1);
    server.setTools(['find', 'other']);
    expect(await skipUntil(clock, told('mcp.tools_changed'))).toMatchObject({ added: ['other'] });
  });

  it('[P-4] is never asked to resume', async () => {
    const { kb, server } = await startRemote({
      era: 'stateless',
      eventIds: true,
      faults: [{ tool: 'find', do: 'lost_stream', primed: true, retryMs: 0 }],
    });
    expect(await kb.call(find)).toMatchObject({ ok: false, failure: { kind: 'crash', outcome: 'unknown' } });
    expect(server.requests('resume') + server.requests('GET')).toBe(0);
  });

  it('[P-4] says nothing of its era by being busy', async () => {
    const { kb, server } = await startRemote({
      era: 'both',
      faults: [{ on: 'server/discover', nth: 1, do: 'status', status: 503 }],
    });
    expect(await kb.call({ name: 'echo' })).toMatchObject({ ok: true });
    expect(server.requests('initialize')).toBe(0);
    expect(server.requests('server/discover')).toBe(2);
  });
});
