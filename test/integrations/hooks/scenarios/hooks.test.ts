import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createGateway,
  type Fact,
  type FactType,
  type GatewayOptions,
  type HookCommand,
  type HookOptions,
} from '../../../../src/index.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { isAlive } from '../../../actors/process/startProcess.ts';
import { isSettled } from '../../../support/deferred.ts';
import { moment } from '../../../support/moment.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';

const fixture = fileURLToPath(new URL('../../../fixtures/hook.mjs', import.meta.url));
const program = (...args: string[]): HookCommand => ({ command: process.execPath, args: [fixture, ...args] });

function makeGateway(options: GatewayOptions = {}) {
  const gateway = createGateway({ store: ':memory:', ...options });
  onTestFinished(() => gateway.stop());
  const facts: Fact[] = [];
  gateway.on('*', (fact) => facts.push(fact));
  return { gateway, of: (type: FactType) => facts.filter((fact) => fact.type === type) };
}

async function startHook(hook: HookCommand, options?: HookOptions, event = 'PreToolUse') {
  const made = makeGateway();
  made.gateway.hook(event, hook, { name: 'guard', ...options });
  await made.gateway.start();
  return { ...made, run: () => made.gateway.runHooks({ event, action: 'Bash', session: 's1', payload: { n: 1 } }) };
}

describe('hooks before the start', () => {
  it('[H-1] fail at once: observers go on, guards decline, and it is told', async () => {
    const { gateway, of } = makeGateway({ clock: new SimulatedClock() });
    let ran = 0;
    gateway.hook('PreToolUse', () => ran++, { name: 'observer' });
    expect(await gateway.runHooks({ event: 'PreToolUse' })).toMatchObject({
      decision: 'continue',
      reports: [{ hook: 'observer', failure: { kind: 'unavailable', message: 'The gateway is not started' } }],
    });
    gateway.hook('PreToolUse', () => ran++, { name: 'guard', onFailure: 'block' });
    const verdict = await gateway.runHooks({ event: 'PreToolUse' });
    expect(verdict).toMatchObject({ decision: 'block', reason: 'The hook guard failed: The gateway is not started' });
    expect(of('hook.failed')).toHaveLength(3);
    expect(ran).toBe(0);
    expect(await gateway.runHooks({ event: 'other' })).toEqual({ decision: 'continue', reports: [] });
  });

  it('[H-1] and after the stop alike', async () => {
    const { gateway } = makeGateway();
    gateway.hook('PreToolUse', () => undefined, { onFailure: 'block' });
    await gateway.start();
    await gateway.stop();
    expect(await gateway.runHooks({ event: 'PreToolUse' })).toMatchObject({ decision: 'block' });
  });
});

describe('the answer of a hook', () => {
  it.each([
    [{ decision: 'blok' }, 'Its answer cannot be read: decision is "blok"; did you mean block?'],
    [{ decision: false }, 'Its answer cannot be read: decision is false; known: block, continue'],
    [{ decision: null }, 'Its answer cannot be read: decision is null; known: block, continue'],
  ])('[H-1] that is %j is a failure: an observer goes on, a guard declines', async (answer, message) => {
    const { gateway, of } = makeGateway();
    gateway.hook('Observed', () => answer);
    gateway.hook('Guarded', () => answer, { name: 'guard', onFailure: 'block' });
    await gateway.start();
    expect(await gateway.runHooks({ event: 'Observed' })).toMatchObject({ decision: 'continue' });
    const verdict = await gateway.runHooks({ event: 'Guarded' });
    expect(verdict).toMatchObject({ decision: 'block', reason: `The hook guard failed: ${message}` });
    expect(of('hook.failed')).toMatchObject([{ error: message }, { hook: 'guard', error: message }]);
  });

  it.each([[undefined], ['text'], [true], [{}], [{ other: 1 }], [{ decision: 'continue' }], [{ decision: undefined }]])(
    '[H-1] that is %j goes on',
    async (answer) => {
      const { gateway, of } = makeGateway();
      gateway.hook('Guarded', () => answer, { onFailure: 'block' });
      await gateway.start();
      expect(await gateway.runHooks({ event: 'Guarded' })).toMatchObject({ decision: 'continue' });
      expect(of('hook.failed')).toEqual([]);
    },
  );
});

describe('a command as a hook', () => {
  it('[H-2] gets the event as JSON on stdin, and its JSON output is honoured', async () => {
    const { run } = await startHook(program('echo'));
    const { decision, reports } = await run();
    const value = reports[0]?.value as { systemMessage: string } | undefined;
    expect(decision).toBe('continue');
    expect(JSON.parse(value?.systemMessage ?? '')).toEqual({
      hook_event_name: 'PreToolUse',
      session_id: 's1',
      tool_name: 'Bash',
      cwd: process.cwd(),
      n: 1,
    });
  });

  it('[H-2] blocks with exit 2 and with a deny, and goes on with exit 0', async () => {
    const exit = await startHook(program('block', 'not on Fridays'));
    expect(await exit.run()).toMatchObject({ decision: 'block', reason: 'not on Fridays' });
    const deny = { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'no' } };
    const json = await startHook(program('print', JSON.stringify(deny)));
    expect(await json.run()).toMatchObject({ decision: 'block', reason: 'no' });
    const allow = await startHook(program('allow'), { onFailure: 'block' });
    expect(await allow.run()).toMatchObject({ decision: 'continue', reports: [{ hook: 'guard' }] });
    expect(allow.of('hook.failed')).toEqual([]);
  });

  it.each([
    ['exits with another code', program('exit', '1'), 'it went wrong'],
    ['crashes', program('crash'), 'node was killed by SIGKILL'],
    ['cannot be started', { command: '/nowhere/guard' }, 'there is no such command'],
    ['prints broken JSON', program('print', '{"decision":'), 'Its output starts like JSON and is none'],
    [
      'leaves a process behind that holds its output',
      { command: 'sh', args: ['-c', 'sleep 1000 & exit 0'] },
      'the end of its answer was not read',
    ],
  ])('[H-1] [H-2] that %s is recorded, and onFailure decides', async (_what, hook, error) => {
    const observer = await startHook(hook);
    expect(await observer.run()).toMatchObject({ decision: 'continue' });
    expect(observer.of('hook.failed')).toMatchObject([
      {
        hook: 'guard',
        event: 'PreToolUse',
        action: 'Bash',
        session: 's1',
        error: expect.stringContaining(error) as string,
      },
    ]);
    const guard = await startHook(hook, { onFailure: 'block' });
    expect(await guard.run()).toMatchObject({ decision: 'block', reason: expect.stringContaining(error) as string });
  });

  it('[H-2] blocks by whole JSON whatever it left behind', async () => {
    const deny = JSON.stringify({ hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'no' } });
    const { run } = await startHook({ command: 'sh', args: ['-c', `sleep 1000 & echo '${deny}'`] });
    expect(await run()).toMatchObject({ decision: 'block', reason: 'no' });
  });

  it('[H-1] [I-3] that hangs is given up after 10 s, and ended with everything below it', async () => {
    const file = join(temporaryDirectory(), 'pids');
    const clock = new SimulatedClock();
    const { gateway } = makeGateway({ clock });
    gateway.hook('PreToolUse', program('hang', file));
    await gateway.start();
    const verdict = gateway.runHooks({ event: 'PreToolUse' });
    const ended = gateway.wait('process.exited');
    while (!existsSync(file)) await moment();
    await clock.advance(9999);
    expect(await isSettled(verdict)).toBe(false);
    await clock.advance(1);
    expect(await verdict).toMatchObject({ decision: 'continue', reports: [{ failure: { kind: 'timeout' } }] });
    const pids = JSON.parse(readFileSync(file, 'utf8')) as number[];
    while (pids.some(isAlive) || !(await isSettled(ended))) {
      await moment();
      await clock.advance(10);
    }
  });

  it('[H-2] of an unknown event runs like any other', async () => {
    const { run } = await startHook(program('block', 'no'), {}, 'PreLunch');
    expect(await run()).toMatchObject({ decision: 'block', reason: 'no' });
  });

  it('[H-2] at SessionEnd is given up within the 1.5 s that its host waits', async () => {
    const clock = new SimulatedClock();
    const { gateway } = makeGateway({ clock });
    gateway.hook('SessionEnd', { ...program('hang'), graceMs: 0 }, { name: 'slow' });
    await gateway.start();
    const started = gateway.wait('process.started');
    const verdict = gateway.runHooks({ event: 'SessionEnd' });
    await clock.settle();
    await started;
    await clock.advance(1200);
    expect(await verdict).toMatchObject({ reports: [{ failure: { kind: 'timeout' } }] });
  });

  it('keeps its circuit closed for a code of its own, and opens it for crashes', async () => {
    const coded = await startHook(program('exit', '3'));
    for (let run = 0; run < 6; run++) await coded.run();
    expect(coded.of('breaker.opened')).toEqual([]);
    const crashing = await startHook(program('crash'));
    const kinds: unknown[] = [];
    // A crash while this event loop stood still counts for nothing: a busy machine has one.
    while (kinds.at(-1) !== 'circuit_open' && kinds.length < 50)
      kinds.push((await crashing.run()).reports[0]?.failure?.kind);
    expect(new Set(kinds.slice(0, -1))).toEqual(new Set(['crash']));
    expect(kinds.length).toBeGreaterThan(5);
    expect(kinds.at(-1)).toBe('circuit_open');
  });

  it.each([
    [{ command: '' }, {}, 'Expected `hook.command` to be a non-empty string, the program alone'],
    [{ command: 'x', shell: true }, {}, 'Unknown option `hook.shell`'],
    [
      { command: 'x' },
      { overallMs: 0 },
      'Expected `options.overallMs` to be a duration above 0 (ms, or text such as 30s), got 0',
    ],
    [{ command: 'x' }, { onFailure: 'deny' }, 'Expected `options.onFailure` to be one of continue, block, got "deny"'],
    [null, {}, 'Expected `handler` to be a function, got null'],
  ])('refuses %j with %j by an error that names it', (hook, options, message) => {
    const { gateway } = makeGateway();
    expect(() => gateway.hook('PreToolUse', hook as HookCommand, options as HookOptions)).toThrow(message);
  });
});
