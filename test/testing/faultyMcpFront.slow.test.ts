import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { McpFaultRule } from '../../testing/mcpFaults.ts';
import { faultyServer } from '../support/faultyServer.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { textOf } from '../support/wire.ts';
import { converse } from './converse.ts';

/** A faulty server before one that is well. */
const before = (faults: readonly McpFaultRule[], calls?: readonly string[]) =>
  converse({
    before: { ...faultyServer({ name: 'real', tools: ['search', 'pay'] }), ...(calls && { calls }) },
    faults,
    startsFile: join(temporaryDirectory(), 'starts'),
  });

describe('a faulty MCP server before a real one', () => {
  it('[E-9] [U-5] passes on what no rule befalls, both ways', async () => {
    const { send, next, call } = before([]);
    send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18' } });
    expect((await next()).result?.['serverInfo']).toMatchObject({ name: 'real' });
    send({ id: 2, method: 'tools/list' });
    expect((await next()).result?.['tools']).toMatchObject([{ name: 'search' }, { name: 'pay' }]);
    call(3, 'search', { text: 'x' });
    expect(textOf(await next())).toBe('x');
  });

  it('[E-9] keeps calls of other tools from the real one, and answers in its place', async () => {
    const { next, call } = before([], ['search']);
    call(1, 'pay', { text: '10' });
    expect(textOf(await next())).toBe('The call was not passed on to the server.');
    call(2, 'search', { text: 'x' });
    expect(textOf(await next())).toBe('x');
    call(3, 'received');
    expect(textOf(await next())).toBe('The call was not passed on to the server.');
  });

  it.each([
    [{ do: 'error', message: '401 Unauthorized' }, { error: { message: '401 Unauthorized' } }],
    [{ do: 'slow', ms: 1 }, { result: { content: [{ text: 'x' }] } }],
    [{ do: 'wrong_id' }, { id: 'nobody-asked', result: { content: [{ text: 'x' }] } }],
  ] as const)('[E-9] befalls a call with %o', async (act, seen) => {
    const { next, call } = before([{ on: 'tools/call', nth: 1, ...act }]);
    call(1, 'search', { text: 'x' });
    expect(await next()).toMatchObject(seen);
    call(2, 'search', { text: 'y' });
    expect(textOf(await next())).toBe('y');
  });

  it('[E-9] floods, tells half of the real answer, and takes the real one along when it is killed', async () => {
    const flood = before([{ do: 'noise', text: 'z', times: 3 }]);
    flood.call(1, 'search', { text: 'x' });
    expect([await flood.line(), await flood.line(), await flood.line()]).toEqual(['z', 'z', 'z']);
    expect(textOf(await flood.next())).toBe('x');
    const half = before([{ do: 'partial_line', then: 'crash' }]);
    half.call(1, 'search', { text: 'x' });
    await half.exit;
    expect(half.raw()).toMatch(/^\{"jsonrpc".*[^}\n]$/);
    const killed = before([{ do: 'crash', signal: 'SIGKILL' }], []);
    killed.call(1, 'search');
    expect(await killed.exit).toEqual([null, 'SIGKILL']);
  });

  it('[E-9] ends with the real one, and lets it end with its stdin', async () => {
    const { child, exit, send, next } = before([]);
    send({ id: 1, method: 'ping' });
    await next();
    child.stdin.end();
    expect(await exit).toEqual([0, null]);
    const gone = converse({ before: { command: '/nonexistent/server' } });
    expect(await gone.error()).toContain('ENOENT');
    expect(await gone.exit).toEqual([127, null]);
  });
});
