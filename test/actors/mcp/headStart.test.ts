import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { endHeadStart, type ServerCommand, startAhead, takeHeadStart } from '../../../src/actors/mcp/headStart.ts';
import { processTarget } from '../../../src/actors/mcp/mcpProcess.ts';
import type { ServerLink } from '../../../src/actors/mcp/serverLink.ts';
import { readProcessNow } from '../../../src/actors/process/processTable.ts';
import { processesOf } from '../../support/processesOf.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';

function program(script: string, more: Partial<ServerCommand> = {}): ServerCommand {
  onTestFinished(() => endHeadStart());
  return { command: process.execPath, args: ['-e', script], env: {}, envMode: 'extend', ...more };
}

const endless = 'setInterval(() => {}, 1000)';
const isThere = (pid: number): boolean => readProcessNow(pid) !== undefined && readProcessNow(pid)?.zombie !== true;

describe('a server that is started ahead', () => {
  it('[P-3] is taken once, by who wants the same command with the same environment', () => {
    const command = program(endless);
    startAhead(command, systemClock);
    expect(takeHeadStart({ ...command, args: ['-e', '0'] })).toBeUndefined();
    expect(takeHeadStart({ ...command, env: { OTHER: '1' } })).toBeUndefined();
    expect(takeHeadStart({ ...command, cwd: '/' })).toBeUndefined();
    vi.stubEnv('CHANGED_MEANWHILE', '1');
    expect(takeHeadStart(command)).toBeUndefined();
    vi.unstubAllEnvs();
    const taken = takeHeadStart(command);
    onTestFinished(() => taken?.end());
    expect(taken?.pid).toBeGreaterThan(0);
    expect(takeHeadStart(command)).toBeUndefined();
  });

  it('[P-3] keeps what it has said for who comes later, though it has exited by then', async () => {
    const command = program('process.stdout.write("out"); process.stderr.write("why"); process.exitCode = 3');
    startAhead(command, systemClock);
    const taken = takeHeadStart(command);
    const { child } = taken ?? {};
    await new Promise<void>((resolve) => child?.once('exit', resolve));
    // Two turns: what an exit throws away of a stream that nobody reads is gone by then.
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    const heard = new Promise<void>((resolve) => child?.once('exit', resolve));
    expect(await Promise.all([child && text(child.stdout), child && text(child.stderr)])).toEqual(['out', 'why']);
    await heard;
    expect(child?.exitCode).toBe(3);
  });

  it('[P-3] [P-4] stays paused when its reader has it wait, however often it is asked for its output', async () => {
    const command = program(`setInterval(() => process.stdout.write("x".repeat(1000)), 1)`);
    startAhead(command, systemClock);
    const taken = takeHeadStart(command);
    onTestFinished(() => taken?.end());
    const { child } = taken ?? {};
    if (child === undefined) throw new Error('It was not taken');
    const heard = once(child.stdout, 'data');
    child.stdout.on('data', () => undefined);
    await heard;
    child.stdout.pause();
    for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
    expect(child.stdout.isPaused()).toBe(true);
  });

  it('[P-3] that has ended by itself before somebody listens is gone at once, not after a time', async () => {
    const flag = join(temporaryDirectory(), 'exits');
    const command = program(
      `process.stderr.write('API_KEY is not set'); require('node:fs').writeFileSync(${JSON.stringify(flag)}, String(process.pid)); process.exitCode = 1`,
    );
    startAhead(command, systemClock);
    const settings = { ...command, handshakeMs: 1000, pingMs: 1000, maxMessageBytes: 1000, closeMs: 1000 };
    // No time passes in it: the ends of its pipes alone can tell.
    const clock = Object.create(systemClock, { setTimeout: { value: () => undefined } }) as typeof systemClock;
    const pidOf = (): number => (existsSync(flag) ? Number(readFileSync(flag, 'utf8')) : 0);
    await expect.poll(() => pidOf() > 0 && readProcessNow(pidOf()) === undefined).toBe(true);
    // The end of its empty stdout has been told to nobody meanwhile.
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    let errors = '';
    const isEnded = new Promise<void>((resolve) => {
      const listener = {
        ...{ started: () => undefined, output: () => undefined, outputEnded: () => undefined },
        ...{ errors: (chunk: Buffer) => (errors += String(chunk)), errorsEnded: () => undefined, ended: resolve },
      };
      void processTarget(settings as never)
        .open(clock, listener as never)
        .start();
    });
    await isEnded;
    expect(errors).toBe('API_KEY is not set');
  });

  it('[P-3] [I-3] is ended by who took it with all it has started, also what left its tree before that', async () => {
    const word = `left-behind-${randomUUID()}`;
    const left = `(setsid sh -c 'sleep 600; :' ${word} >/dev/null 2>&1 &); echo ready; exec cat`;
    const command = program('', { command: 'sh', args: ['-c', left] });
    startAhead(command, systemClock);
    const settings = { ...command, handshakeMs: 1000, pingMs: 1000, maxMessageBytes: 1000, closeMs: 1000 };
    const server = await new Promise<ServerLink>((resolve) => {
      const listener = {
        ...{ started: () => undefined, outputEnded: () => undefined, errorsEnded: () => undefined },
        ...{ output: () => resolve(link), errors: () => undefined, ended: () => undefined },
      };
      const link = processTarget(settings as never).open(systemClock, listener as never);
      void link.start();
    });
    await expect.poll(() => processesOf(word)).toHaveLength(1);
    await server.close();
    await expect.poll(() => processesOf(word)).toEqual([]);
  });

  it('[P-3] [I-3] that nobody takes is ended, with what it has started', async () => {
    const command = program(
      `const { pid } = require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(endless)}], { detached: true });
       console.log(pid); process.on('SIGTERM', () => {}); ${endless}`,
    );
    startAhead(command, systemClock);
    const taken = takeHeadStart(command);
    const [line] = taken === undefined ? [] : ((await once(taken.child.stdout, 'data')) as [Buffer]);
    await taken?.end();
    expect(isThere(taken?.pid ?? 0)).toBe(false);
    await expect.poll(() => isThere(Number(String(line)))).toBe(false);
  });

  it('[P-3] is none where the command cannot be started', () => {
    const command = program('', { command: '/nowhere/server' });
    startAhead(command, systemClock);
    expect(takeHeadStart(command)).toBeUndefined();
  });
});
