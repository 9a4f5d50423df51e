import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { createActor, toPromise } from 'xstate';
import { mcpChild } from '../../../src/actors/mcp/mcpConnection.ts';
import { clientInfo } from '../../../src/actors/mcp/mcpLink.ts';
import { isFailedExit } from '../../../src/supervisor/exit.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { faultyServer } from '../../support/faultyServer.ts';
import { SkippingClock } from '../../support/skippingClock.ts';
import {
  fixture,
  gone,
  hanging,
  isAlive,
  rejection,
  requestContext,
  startServer,
  stubborn,
  textOf,
} from './mcpHarness.ts';
import { nextTurn } from '../process/startProcess.ts';

const require = createRequire(import.meta.url);

const crashing = (exitCode: number) => {
  const stderr = 'about to fail\nfatal: out of luck';
  return startServer({ faults: [{ tool: 'crash', do: 'crash', exitCode, stderr }] });
};

/** A server that exits at once, and says why on stderr only. */
const doomed = (exitCode = 3, database = 'the database') => ({
  faults: [{ on: 'start', do: 'crash', exitCode, stderr: `Error: cannot open ${database}` }] as const,
});

/** A server that hangs in its own start. */
const silent = { stderr: 'still loading', faults: [{ on: 'initialize', do: 'hang' }] as const };

/** The facts a failed incarnation ends with. */
async function failureOf(done: Promise<unknown>): Promise<unknown> {
  const output = await done;
  if (!isFailedExit(output)) throw new Error(`It did not fail: ${JSON.stringify(output)}`);
  return (output.error as { facts: unknown }).facts;
}

describe('an MCP connection', () => {
  it('[P-1] shakes hands with a server and knows it by name', async () => {
    const server = startServer({ name: 'tools', version: '1.2.3', instructions: 'Ask nicely.' });
    const connection = await server.ready;
    expect(connection).toMatchObject({ server: { name: 'tools', version: '1.2.3' }, instructions: 'Ask nicely.' });
    expect(connection.pid).toBe(server.pid());
    expect(server.actor.getSnapshot().value).toBe('ready');
  });

  it('tells servers the version of the package', () => {
    expect(clientInfo.version).toBe((require('../../../package.json') as { version: string }).version);
  });

  it('[P-1] works with a server of the protocol project', async () => {
    const everything = require.resolve('@modelcontextprotocol/server-everything/dist/index.js');
    const connection = await startServer({}, { args: [everything] }).ready;
    const { context } = requestContext();
    expect((await connection.listTools()).map(({ name }) => name)).toContain('echo');
    const result = await connection.callTool({ name: 'echo', arguments: { message: 'hello' } }, context);
    expect(textOf(result)).toContain('hello');
  });

  it('[P-1] ends as a failure, with the reason and the end of stderr, when the server crashes in a call', async () => {
    const server = crashing(7);
    const { context } = requestContext();
    const call = rejection((await server.ready).callTool({ name: 'crash' }, context));
    const facts = { kind: 'crash', reason: 'connection_lost', code: 7, outcome: 'unknown' };
    expect(await call).toMatchObject({ ...facts, message: expect.stringContaining('out of luck') as unknown });
    expect(await failureOf(server.done)).toMatchObject(facts);
  });

  it('[M-6] ends without what the server wrote at its start, which says nothing of its end', async () => {
    const server = startServer({ stderr: 'Starting', faults: [{ tool: 'crash', do: 'crash', exitCode: 7 }] });
    const connection = await server.ready;
    await server.heard(/^stderr: Starting$/);
    // One turn later all that was written before the handshake was over is of the start.
    await new Promise(setImmediate);
    const facts = await rejection(connection.callTool({ name: 'crash' }, requestContext().context));
    expect(facts).toMatchObject({ message: 'The server exited with code 7' });
  });

  it('[M-6] tells of a loss once, before the calls in flight end', async () => {
    const order: string[] = [];
    const server = startServer(hanging, { onLost: ({ reason }) => order.push(`lost: ${reason}`) });
    const connection = await server.ready;
    const calls = [1, 2].map(async () => {
      const { kind } = await rejection(connection.callTool({ name: 'hang' }, requestContext().context));
      order.push(kind);
    });
    process.kill(server.pid(), 'SIGKILL');
    await Promise.all([...calls, server.done]);
    expect(order).toEqual(['lost: connection_lost', 'crash', 'crash']);
  });

  it('[M-6] names the signal that ended the server', async () => {
    const server = startServer();
    await server.ready;
    process.kill(server.pid(), 'SIGKILL');
    expect(await failureOf(server.done)).toMatchObject({ reason: 'connection_lost', code: 'SIGKILL' });
  });

  it('[M-6] ends normally when the server exits by itself with code 0, and its calls with connection_closed', async () => {
    const server = crashing(0);
    const connection = await server.ready;
    const call = rejection(connection.callTool({ name: 'crash' }, requestContext().context));
    expect(await call).toMatchObject({ kind: 'crash', reason: 'connection_closed' });
    expect(await server.done).toEqual({ exit: 'normal' });
    expect(server.losses).toMatchObject([{ reason: 'connection_closed' }]);
  });

  it('[P-1] does not send a call to a server that is gone', async () => {
    const server = startServer();
    const connection = await server.ready;
    process.kill(server.pid(), 'SIGKILL');
    await server.done;
    const { context } = requestContext();
    expect(await rejection(connection.callTool({ name: 'echo' }, context))).toMatchObject({
      kind: 'crash',
      reason: 'connection_lost',
      outcome: 'not_started',
    });
  });

  it('[P-1] gives up a server that never answers initialize', async () => {
    const server = startServer(silent, { handshakeMs: 300 });
    const facts = await failureOf(server.done);
    expect(facts).toMatchObject({ kind: 'timeout', reason: 'init_timeout', outcome: 'not_started' });
    expect(server.losses).toEqual([facts]);
    expect(isAlive(server.pid())).toBe(false);
  });

  it('[P-1] says what a server that exits at its start wrote to stderr', async () => {
    const facts = await failureOf(startServer(doomed()).done);
    expect(facts).toMatchObject({
      kind: 'crash',
      reason: 'startup_failed',
      code: 3,
      message: 'The server exited with code 3 before it answered initialize; stderr: Error: cannot open the database',
    });
  });

  it('counts an exit with code 0 before the handshake as a failed start', async () => {
    const { done } = startServer(doomed(0));
    expect(await failureOf(done)).toMatchObject({ reason: 'startup_failed', code: 0 });
  });

  it('[O-8] keeps values of its environment out of messages', async () => {
    const database = 'postgres://planted-secret';
    const server = startServer(doomed(3, database), { env: { MCP_DATABASE: database } });
    expect(await failureOf(server.done)).toMatchObject({
      message: expect.stringContaining('[MCP_DATABASE]') as unknown,
    });
    expect(JSON.stringify([server.losses, server.stray])).not.toContain('planted-secret');
  });

  it('[P-1] says why a server refused the handshake, and ends it', async () => {
    const server = startServer({ faults: [{ on: 'initialize', do: 'error', code: -32_602, message: 'no licence' }] });
    expect(await failureOf(server.done)).toMatchObject({
      kind: 'protocol',
      reason: 'init_rejected',
      code: -32602,
      message: 'initialize failed: no licence',
    });
    expect(isAlive(server.pid())).toBe(false);
  });

  it('[P-1] says that there is no such command', async () => {
    const { done, losses } = startServer({}, { command: 'no-such-command-anywhere' });
    const facts = { kind: 'spawn', reason: 'startup_failed', code: 'ENOENT', outcome: 'not_started' };
    expect(await failureOf(done)).toMatchObject(facts);
    expect(losses).toMatchObject([facts]);
  });

  it('[O-8] passes a short list of variables on, and the rest only when told to', async () => {
    process.env['MCP_TEST_PLANTED'] = 'planted';
    const ask = async (envMode: 'safe' | 'extend', name: string): Promise<string> => {
      const connection = await startServer({}, { envMode, env: { MCP_GIVEN: 'given' } }).ready;
      return textOf(await connection.callTool({ name: 'environment', arguments: { name } }, requestContext().context));
    };
    expect(await ask('safe', 'MCP_TEST_PLANTED')).toBe('unset');
    expect(await ask('safe', 'MCP_GIVEN')).toBe('given');
    expect(await ask('safe', 'PATH')).toBe(process.env['PATH']);
    expect(await ask('extend', 'MCP_TEST_PLANTED')).toBe('planted');
    delete process.env['MCP_TEST_PLANTED'];
  });

  it('[I-3] ends in good order when asked to, and leaves no process', async () => {
    const server = startServer();
    await server.ready;
    server.actor.send({ type: 'shutdown' });
    expect(await server.done).toEqual({ exit: 'normal' });
    expect(isAlive(server.pid())).toBe(false);
    expect(server.losses).toMatchObject([{ reason: 'stopped' }]);
    expect(server.emitted.at(-1)).toMatchObject({ type: 'process.exited', pid: server.pid(), exitCode: 0 });
  });

  it('[I-1] ends calls in flight at once when asked to shut down', async () => {
    const server = startServer(hanging);
    const call = rejection((await server.ready).callTool({ name: 'hang' }, requestContext().context));
    server.actor.send({ type: 'shutdown' });
    expect(await Promise.race([call, server.done])).toMatchObject({ reason: 'stopped', outcome: 'unknown' });
  });

  it('[I-3] kills a server that neither the end of its stdin nor SIGTERM ends', async () => {
    const clock = new SkippingClock();
    const server = startServer(stubborn, { clock, closeMs: 600_000 });
    await server.ready;
    server.actor.send({ type: 'shutdown' });
    await nextTurn();
    clock.skip(600_000);
    await server.heard(/^stderr: not now$/);
    clock.skip(600_000);
    await server.done;
    expect(isAlive(server.pid())).toBe(false);
  });

  it('[I-3] kills the server at once when its actor is stopped', async () => {
    const server = startServer(stubborn);
    await server.ready;
    server.actor.stop();
    await gone(server.pid());
    expect(server.losses).toMatchObject([{ reason: 'stopped' }]);
  });

  it('[I-3] kills the server at once when its actor is stopped in the handshake', async () => {
    const server = startServer(silent);
    await server.heard(/still loading/);
    expect(isAlive(server.pid())).toBe(true);
    server.actor.stop();
    await gone(server.pid());
  });

  it.each(['stop', 'shutdown'])(
    '[I-3] starts no server after its end was asked for while it was loading: %s',
    async (how) => {
      const server = startServer(silent);
      if (how === 'stop') server.actor.stop();
      else server.actor.send({ type: 'shutdown' });
      expect(server.losses).toMatchObject([{ reason: 'stopped' }]);
      // Whoever is started after it has been ready by the time that it would have been started.
      await startServer().ready;
      expect(server.emitted.filter(({ type }) => type === 'process.started')).toEqual([]);
      expect(server.losses).toHaveLength(1);
    },
  );

  const serverOf = async (heard: (pattern: RegExp) => Promise<string>): Promise<number> =>
    Number((await heard(/server pid/)).replace(/\D/g, ''));

  it.each([[[]], [['detached']]])('[I-3] kills the server behind a wrapper too (%j)', async (extra) => {
    const server = startServer({}, { args: [fixture('wrapper'), ...extra, '--', ...faultyServer(stubborn).args] });
    const pid = await serverOf(server.heard);
    await server.ready;
    expect(isAlive(pid)).toBe(true);
    server.actor.stop();
    await gone(pid);
  });

  it('[I-3] ends what a crashed wrapper leaves behind, before it counts as ended', async () => {
    const server = startServer({}, { args: [fixture('wrapper'), '--', ...faultyServer(stubborn).args] });
    const pid = await serverOf(server.heard);
    await server.ready;
    process.kill(server.pid(), 'SIGKILL');
    expect(await failureOf(server.done)).toMatchObject({ reason: 'connection_lost', code: 'SIGKILL' });
    expect(isAlive(pid)).toBe(false);
  });

  it.each(['stdin', 'stdout'] as const)('[M-6] gives up a server that closes its %s and stays', async (name) => {
    const server = startServer({ faults: [{ tool: 'closePipe', do: 'close_pipe', pipe: name }] });
    const connection = await server.ready;
    const call = rejection(connection.callTool({ name: 'closePipe' }, requestContext().context));
    await server.heard(/closed it/);
    if (name === 'stdin') void connection.ping();
    expect(await call).toMatchObject({
      reason: 'connection_lost',
      message: 'The server closed a pipe and did not exit; stderr: closed it',
    });
    await server.done;
    expect(isAlive(server.pid())).toBe(false);
  });

  it('[P-1] starts each incarnation afresh from the same child spec', async () => {
    const pids: (number | undefined)[] = [];
    let next: (() => void) | undefined;
    const { logic, input } = mcpChild({
      ...faultyServer(),
      clock: systemClock,
      onReady({ pid }) {
        pids.push(pid);
        next?.();
      },
    });
    for (const incarnation of [1, 2]) {
      const ready = new Promise<void>((resolve) => {
        next = resolve;
      });
      const actor = createActor(logic, { input });
      actor.start();
      await ready;
      process.kill(pids[incarnation - 1] ?? 0, 'SIGKILL');
      expect(isFailedExit(await toPromise(actor))).toBe(true);
    }
    expect(new Set(pids).size).toBe(2);
  });

  it('[P-1] kills a server that is said to hang, with that reason', async () => {
    const server = startServer(hanging);
    const connection = await server.ready;
    const call = rejection(connection.callTool({ name: 'hang' }, requestContext().context));
    connection.kill({ kind: 'crash', reason: 'hang', message: 'It hung', outcome: 'unknown' });
    expect(await Promise.race([call, server.done])).toMatchObject({ kind: 'crash', reason: 'hang' });
    expect(await failureOf(server.done)).toMatchObject({ reason: 'hang' });
    expect(isAlive(server.pid())).toBe(false);
  });

  it('[I-4] survives callbacks that throw, and logs it', async () => {
    const logged: string[] = [];
    const log = (message: string): void => void logged.push(message);
    const boom = (): never => {
      throw new Error('boom');
    };
    const logger = { debug: log, info: log, warn: log, error: log };
    const server = startServer(
      { stderr: 'up' },
      {
        onReady: boom,
        onLost: boom,
        onStray: boom,
        logger,
      },
    );
    await new Promise<void>((resolve) => {
      server.actor.subscribe({ next: ({ value }) => value === 'ready' && resolve(), error: () => undefined });
    });
    server.actor.send({ type: 'shutdown' });
    expect(await server.done).toEqual({ exit: 'normal' });
    expect(logged).toEqual(['onReady threw', 'onLost threw']);
  });
});

describe('the options of an MCP server', () => {
  const check = (options: object): unknown => mcpChild({ command: 'server', clock: systemClock, ...options });

  it.each([
    [{ command: '' }, RangeError, '`command`'],
    [{ command: 'x', args: 'y' }, TypeError, '`args`'],
    [{ args: ['a', 1] }, TypeError, '`args[1]`'],
    [{ env: { KEY: 1 } }, TypeError, '`env.KEY`'],
    [{ env: [] }, TypeError, '`env`'],
    [{ envMode: 'all' }, RangeError, '`envMode`'],
    [{ cwd: 7 }, TypeError, '`cwd`'],
    [{ handshakeMs: 0 }, RangeError, '`handshakeMs`'],
    [{ closeMs: -1 }, RangeError, '`closeMs`'],
    [{ pingMs: 'soon' }, RangeError, '`pingMs`'],
    [{ maxMessageBytes: 1023 }, RangeError, '`maxMessageBytes`'],
    [{ comand: 'x' }, RangeError, 'Unknown option `comand`; did you mean command?'],
  ])('[P-1] refuses %j', (options, type, name) => {
    expect(() => check(options)).toThrow(type);
    expect(() => check(options)).toThrow(name);
  });

  it('[P-1] gives the handshake 10 s by default', () => {
    expect(check({ maxMessageBytes: 1024 })).toMatchObject({ input: { handshakeMs: 10_000 } });
  });
});
