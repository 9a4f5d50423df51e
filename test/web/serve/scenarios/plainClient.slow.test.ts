import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FaultyMcpServerOptions } from '../../../../testing/faultyMcpServer.ts';
import { everything, makeServeHome, type ServeHome, startServe } from '../../../cli/startServe.ts';
import { faultyServer } from '../../../support/faultyServer.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { next, PlainClient } from '../plainClient.ts';

/** Two real MCP servers; `bank` does what it is told to do wrong in its first life. */
function home(faults: FaultyMcpServerOptions['faults']): ServeHome {
  const tools = [{ name: 'list', annotations: { readOnlyHint: true } }, 'charge'];
  const bank = faultyServer({ tools, faults, startsFile: join(temporaryDirectory(), 'starts') });
  return makeServeHome({ mcpServers: { everything, bank } });
}

/** Waits until the call of a session is with its server. */
async function inFlight(client: PlainClient): Promise<{ readonly pid: number; readonly message: string | undefined }> {
  const phase = async (): Promise<string | undefined> => (await client.why()).calls[0]?.progress?.phase;
  await expect.poll(phase).toBe('in_flight');
  const { calls, turn } = await client.why();
  return { pid: calls[0]?.target?.process?.pid ?? 0, message: turn?.message };
}

const words = { message: 'hello' };
const payment = { amount: 100 };

describe('a plain HTTP client of unwedge serve', () => {
  it('[E-1] [P-1] loses one call to a server that is killed; other sessions go on, and so does its own', async () => {
    const serving = await startServe(home([{ tool: 'charge', do: 'hang', start: 1 }]));
    const payer = await new PlainClient(serving, 'payer').open();
    const other = await new PlainClient(serving, 'other').open();
    const [events, otherEvents] = [await payer.events(), await other.events()];
    const long = { duration: 1, steps: 2 };
    const [charge, work] = [
      await payer.send('bank', 'charge', payment),
      await other.send('everything', 'trigger-long-running-operation', long),
    ];
    expect([charge, work]).toMatchObject([
      { state: 'waiting', durable: true },
      { state: 'waiting', durable: true },
    ]);
    await next(events, 'session.turn_started');
    await next(otherEvents, 'session.turn_started');
    const { pid } = await inFlight(payer);
    process.kill(pid, 'SIGKILL');

    const [failed] = (await next(events, 'session.tool_failed')).slice(-1);
    expect(failed?.data).toMatchObject({ integration: 'bank', tool: 'charge', kind: 'crash' });
    await next(events, 'session.turn_ended');
    expect(await payer.message(charge.id)).toMatchObject({ state: 'failed', result: { outcome: 'unknown' } });
    await next(otherEvents, 'session.turn_ended');
    expect(await other.message(work.id)).toMatchObject({ state: 'done' });
    expect(await other.send('everything', 'echo', words, { wait: '1m' })).toMatchObject({
      state: 'done',
      result: { value: { content: [{ text: 'Echo: hello' }] } },
    });
    expect(await payer.send('bank', 'list', words, { wait: '1m' })).toMatchObject({ state: 'done' });
  });

  it('[E-1] gets what it missed when it reads on, each event once', async () => {
    const serving = await startServe(home([]));
    const client = await new PlainClient(serving, 'main').open();
    const events = await client.events();
    await client.send('everything', 'echo', words, { wait: '1m' });
    const before = await next(events, 'session.turn_started');
    await events.return(undefined);
    await client.send('everything', 'echo', words, { wait: '1m' });
    const again = await client.events(before.at(-1)?.id);
    const after = [...(await next(again, 'session.turn_ended')), ...(await next(again, 'session.turn_ended'))];
    const turns = [...before, ...after].flatMap(({ type, data }) =>
      type.startsWith('session.turn_') ? [`${type} ${String(data['turn'])}`] : [],
    );
    expect(turns).toEqual([
      'session.turn_started 1',
      'session.turn_ended 1',
      'session.turn_started 2',
      'session.turn_ended 2',
    ]);
    const ids = [...before, ...after].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(after.map(({ type }) => type)).not.toContain('missed');
  });

  it('[E-1] [I-5] sends a message twice under one key, and it is done once', async () => {
    const client = await new PlainClient(await startServe(home([])), 'main').open();
    const first = await client.send('bank', 'charge', payment, { key: 'order-7', wait: '1m' });
    const second = await client.send('bank', 'charge', payment, { key: 'order-7', wait: '1m' });
    expect(first).toMatchObject({ state: 'done' });
    expect(second).toMatchObject({ id: first.id, state: 'done', result: first.result, duplicate: true });
    expect(await callsOf(client, 'charge')).toBe(1);
  });

  it('[E-1] [L-5] sees why its session waits, and cancels that; what waits goes on', async () => {
    const client = await new PlainClient(await startServe(home([{ tool: 'charge', do: 'hang' }])), 'main').open();
    const charge = await client.send('bank', 'charge', payment);
    const echo = await client.send('everything', 'echo', words);
    expect((await inFlight(client)).message).toBe(charge.id);
    expect(await client.message(charge.id)).toMatchObject({ state: 'running' });
    expect(await client.message(echo.id)).toMatchObject({ state: 'waiting' });
    expect(await client.cancel()).toMatchObject({ ok: true });
    expect(await client.ended(charge.id)).toMatchObject({ state: 'failed', result: { outcome: 'cancelled' } });
    expect(await client.ended(echo.id)).toMatchObject({ state: 'done' });
  });

  it('[E-1] [I-5] [R-12] finds each message that was accepted ended once after kill -9, and nothing done twice', async () => {
    const place = home([
      { tool: 'charge', do: 'hang', start: 1 },
      { tool: 'list', do: 'hang', start: 1 },
    ]);
    const first = await startServe(place);
    const payer = await new PlainClient(first, 'payer').open();
    const reader = await new PlainClient(first, 'reader').open();
    const sent = [
      await payer.send('bank', 'charge', payment, { key: 'charge' }),
      await payer.send('everything', 'echo', words, { key: 'echo' }),
      await reader.send('bank', 'list', words, { key: 'list' }),
      await reader.send('everything', 'echo', words, { key: 'echo' }),
    ];
    expect(sent.map(({ durable }) => durable)).toEqual([true, true, true, true]);
    await inFlight(payer);
    await inFlight(reader);
    first.child.kill('SIGKILL');
    await first.exited;

    const second = await startServe(place);
    const [payerAgain, readerAgain] = [new PlainClient(second, 'payer'), new PlainClient(second, 'reader')];
    const ended = [
      await payerAgain.ended(sent[0]?.id ?? ''),
      await payerAgain.ended(sent[1]?.id ?? ''),
      await readerAgain.ended(sent[2]?.id ?? ''),
      await readerAgain.ended(sent[3]?.id ?? ''),
    ];
    // Nobody knows whether it was paid; that the list was read twice is the same to everybody.
    expect(ended).toMatchObject([
      { state: 'failed', result: { outcome: 'unknown' } },
      { state: 'done' },
      { state: 'done' },
      { state: 'done' },
    ]);
    expect(await callsOf(readerAgain, 'charge')).toBe(0);
    expect(await callsOf(readerAgain, 'list')).toBe(1);
    // A client that never had its answer sends all of them again.
    const again = await payerAgain.send('bank', 'charge', payment, { key: 'charge' });
    expect(again).toMatchObject({ id: sent[0]?.id, state: 'failed', duplicate: true });
    const results = (await payerAgain.history()).filter(({ type }) => type === 'tool_result');
    expect(results.filter(({ result }) => (result as { status: string }).status === 'ok')).toHaveLength(1);
    expect(await callsOf(readerAgain, 'charge')).toBe(0);
  });
});

/** How often `bank` was called with a tool in its life. */
async function callsOf(client: PlainClient, tool: string): Promise<number> {
  const { result } = await client.send('bank', 'received', {}, { wait: '1m' });
  const received = JSON.parse(result?.value?.content?.[0]?.text ?? '[]') as {
    readonly method: string;
    readonly params: { readonly name?: string };
  }[];
  return received.filter(({ method, params }) => method === 'tools/call' && params.name === tool).length;
}
