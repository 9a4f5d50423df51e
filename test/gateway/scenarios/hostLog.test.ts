import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { workflowKind, type WorkflowMethods } from '../../../workflow/workflow.ts';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { GatewayOptions } from '../../../src/runtime/runtimeOptions.ts';
import type { Gateway } from '../../../src/gateway/gatewayTypes.ts';
import type { HostLogger } from '../../../src/policy/options/hostLogger.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
// What is imported at the first use takes real time, which a simulated clock does not wait for.
import '../../../workflow/plan.ts';
import type { Workflow, WorkflowBackend } from '../../../workflow/workflowTypes.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

type Said = readonly unknown[];

/** A logger that keeps what it is called with, after its level. */
function recordingLogger(more: object = {}): { readonly logger: HostLogger; readonly said: Said[] } {
  const said: Said[] = [];
  const line =
    (level: string) =>
    (...given: unknown[]) =>
      void said.push([level, ...given]);
  return {
    said,
    logger: { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error'), ...more },
  };
}

/** A running gateway on a simulated clock, whose logger is heard from the start on. */
async function startLogged(
  options: GatewayOptions = {},
  more: object = {},
  declare?: (gateway: Gateway & WorkflowMethods) => void,
) {
  const clock = new SimulatedClock();
  const { logger, said } = recordingLogger(more);
  const gateway = createGateway({ kinds: [workflowKind], clock, random: () => 0.5, logger, ...options });
  onTestFinished(async () => {
    const stopped = gateway.stop();
    await clock.advance(60_000);
    await stopped;
  });
  const tools = gateway.integration<string, string>('tools', { policy: { maxAttempts: 1 } }, (answer) => {
    if (answer === 'well') return answer;
    throw Object.assign(new Error(answer), { code: 'ECONNRESET' });
  });
  declare?.(gateway);
  await gateway.start();
  await clock.settle();
  const begun = said.length;
  const lines = () => said.slice(begun).map(([level, text]) => `${String(level)} ${String(text)}`);
  return { clock, gateway, tools, said, lines };
}

describe('the logger of a host', () => {
  it('[O-11] hears that a circuit opened, with the cause, and that it closed', async () => {
    const { clock, tools, lines } = await startLogged({ alerts: false });
    for (let count = 0; count < 5; count++) await tools.call('gateway closed (1012)');
    expect(lines().filter((line) => line.includes('circuit'))).toEqual([
      'warn The circuit of tools opened (5 attempts in a row failed, consecutiveFailures 5): gateway closed (1012); next try in 1m',
    ]);
    await clock.advance(60_000);
    await tools.call('well');
    expect(lines().at(-1)).toBe('info The circuit of tools closed');
  });

  it('[I-4] [O-11] hears of a handler that throws, though its sender does not look at how the message ended', async () => {
    const { clock, gateway, lines } = await startLogged();
    const desk = gateway.session('desk', { onMessage: () => Promise.reject(new Error('boom, password=hunter2')) });
    const failed = gateway.wait('session.turn_failed');
    await desk.send({ kind: 'user' });
    await clock.settle();
    expect(lines()).toEqual(['warn Turn 1 of the session desk failed (unknown): boom, password=[redacted]']);
    expect((await failed).stack).toMatch(/^Error: boom, password=\[redacted\]\n +at .*hostLog\.test/);
  });

  it('[I-4] [O-11] hears that a message waits for the start of its gateway, once', async () => {
    const clock = new SimulatedClock();
    const { logger, said } = recordingLogger();
    const gateway = createGateway({ clock, logger });
    onTestFinished(() => gateway.stop());
    const desk = gateway.session('desk', { onMessage: () => 'done' });
    const [first, second] = [desk.send({ kind: 'user' }), desk.heartbeat()];
    await clock.settle();
    expect(said).toEqual([
      [
        'warn',
        'The session desk has a message, and its gateway has not started yet: messages wait for gateway.start()',
      ],
    ]);
    await gateway.start();
    for (const answer of [await first, await second]) {
      expect(await (answer.accepted ? answer.processed : undefined)).toEqual({ ok: true, value: 'done' });
    }
  });

  it('[O-11] hears nothing of messages that a start in the same turn delivers', async () => {
    const clock = new SimulatedClock();
    const { logger, said } = recordingLogger();
    const gateway = createGateway({ clock, logger });
    onTestFinished(() => gateway.stop());
    await gateway.session('desk', { onMessage: () => 'done' }).send({ kind: 'user' });
    await gateway.start();
    await clock.settle();
    expect(said.map(([, text]) => String(text)).join()).not.toContain('has not started');
  });

  it('[I-4] without a logger is told as a warning of the process that nothing was started', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    onTestFinished(() => warned.mockRestore());
    const clock = new SimulatedClock();
    const gateway = createGateway({ clock });
    onTestFinished(() => gateway.stop());
    await gateway.session('desk', { onMessage: () => 'done' }).send({ kind: 'user' });
    await clock.settle();
    expect(warned.mock.calls).toMatchObject([[expect.stringContaining('The session desk'), 'UnwedgeWarning']]);
  });

  it('[O-11] hears of final failures, each in one line without secrets', async () => {
    const { tools, lines } = await startLogged();
    await tools.call('two\nlines, password=hunter2', { label: 'charge' });
    await tools.call('well');
    const aborted = new AbortController();
    aborted.abort();
    await tools.call('never', { signal: aborted.signal });
    expect(lines()).toEqual([
      'warn The call charge of tools failed (transient, 1 attempt): two lines, password=[redacted]',
    ]);
  });

  it('[O-11] hears of an alert and of the all-clear', async () => {
    const { clock, tools, lines } = await startLogged({ alerts: { failures: 2 } });
    for (let count = 0; count < 2; count++) await tools.call('no');
    expect(lines().at(-1)).toMatch(/^error Alert: tools failed 2 times within 10m; last: no \(.+, pid \d+ on .+\)$/);
    await clock.advance(10 * 60_000);
    expect(lines().at(-1)).toMatch(/^info All clear: tools, after 10m \(it has been quiet; .+, pid \d+ on .+\)$/);
  });

  it('[O-11] hears of a hook that failed, once', async () => {
    const { gateway, lines } = await startLogged();
    gateway.hook('Stop', () => Promise.reject(new Error('boom')), { name: 'notify' });
    await gateway.runHooks({ event: 'Stop' });
    expect(lines()).toEqual(['warn The hook notify failed on Stop: boom']);
  });

  it('[W-7] hears that an item failed for good, once', async () => {
    let workflow: Workflow<string, string, string> | undefined;
    const items = [
      { id: 'a', action: 'do a' },
      { id: 'b', action: 'do b' },
    ];
    const primary: WorkflowBackend<string, string, string> = {
      name: 'primary',
      plan: () => ({ success: true, items }),
      item: ({ id }) => (id === 'a' ? Promise.reject(new Error('no luck')) : id),
    };
    const { clock, lines } = await startLogged({}, {}, (gateway) => {
      workflow = gateway.workflow('deploy', { backends: [primary] });
    });
    const run = workflow?.run('input');
    await clock.advance(3000);
    expect(await run?.outcome).toMatchObject({ status: 'partial' });
    expect(lines()).toEqual(['error Item a PERMANENTLY FAILED after 3 attempts: no luck']);
  });

  it('[O-11] hears of a store that cannot be written', async () => {
    const { said } = await startLogged({ store: { path: temporaryDirectory(), required: false } });
    expect(said.filter(([level]) => level === 'warn')).toHaveLength(1);
  });

  it('[O-11] hears once, at debug, that nothing outlives the process', async () => {
    const { said } = await startLogged();
    expect(said).toEqual([
      ['debug', 'The store is in memory: the last 10,000 events are kept, and end with this process.'],
    ]);
  });

  it('[O-11] hears five lines of a flood in a minute, then how many there were besides', async () => {
    const { clock, tools, lines } = await startLogged({ alerts: false });
    for (let count = 0; count < 5; count++) await tools.call('no');
    tools.breaker.reset();
    for (let count = 0; count < 3; count++) await tools.call('no');
    const failed = () => lines().filter((line) => line.includes('failed ('));
    expect(failed()).toHaveLength(5);
    await clock.advance(59_999);
    await tools.call('no');
    expect(failed()).toHaveLength(5);
    await clock.advance(1);
    tools.breaker.reset();
    await tools.call('no');
    expect(failed().slice(5)).toEqual([
      'warn A call of tools failed (transient, 1 attempt): no (4 more like it were not logged)',
    ]);
  });

  it('[O-11] hears at most 60 lines in a minute, whatever they are about', async () => {
    const { gateway, lines } = await startLogged({ alerts: false });
    for (let count = 0; count < 70; count++) {
      await gateway
        .integration(`i${count}`, { policy: { maxAttempts: 1 } }, () => Promise.reject(new Error('no')))
        .call('');
    }
    expect(lines()).toHaveLength(60);
  });

  it('[O-11] that takes its fields first, as pino does, is given them first', async () => {
    const { tools, said } = await startLogged({}, { bindings: () => ({}) });
    await tools.call('no');
    expect(said.at(-1)).toEqual([
      'warn',
      { event: 'call.failed', subject: 'tools' },
      'A call of tools failed (transient, 1 attempt): no',
    ]);
  });

  it('[O-11] that is like a console is given one line, without fields to be printed over several', async () => {
    const { tools, said } = await startLogged({}, { table: () => undefined, dir: () => undefined });
    await tools.call('no');
    expect(said.at(-1)).toEqual(['warn', 'A call of tools failed (transient, 1 attempt): no']);
  });

  it('[O-11] may have no `debug`, and is called on itself', async () => {
    const said: string[] = [];
    class Own {
      readonly name = 'own';
      info(text: string) {
        said.push(`${this.name} ${text}`);
      }
      warn(text: string) {
        this.info(text);
      }
      error(text: string) {
        this.info(text);
      }
    }
    const { tools } = await startLogged({ logger: new Own() });
    await tools.call('no');
    expect(said).toEqual(['own A call of tools failed (transient, 1 attempt): no']);
  });

  it('[O-11] is silent with `false`, and disturbs nothing by throwing', async () => {
    const { tools, said } = await startLogged({ logger: false });
    expect(await tools.call('no')).toMatchObject({ ok: false });
    expect(said).toEqual([]);
    const fail = (): never => {
      throw new Error('disk full');
    };
    const broken = await startLogged({ logger: { info: fail, warn: fail, error: fail } });
    expect(await broken.tools.call('no')).toMatchObject({ ok: false });
    expect(await broken.tools.call('well')).toMatchObject({ ok: true });
  });
});
