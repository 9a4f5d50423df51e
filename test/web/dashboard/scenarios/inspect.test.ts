import { createWebSocketReceiver, type StatelyInspectionEvent } from '@statelyai/inspect';
import { once } from 'node:events';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway, type Gateway } from '../../../../src/index.ts';
import { inspectWithStately, type InspectOptions } from '../../../../web/dashboard/index.ts';
import { inspectionOf } from '../../../../src/inspector/inspection.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';

afterEach(() => vi.unstubAllEnvs());

async function startInspected(gateway: Gateway, options?: InspectOptions) {
  const inspector = await inspectWithStately(gateway, options);
  onTestFinished(async () => {
    await gateway.stop();
    await inspector.close();
  });
  return inspector;
}

/** What the official receiver hears, and a wait for one of it. */
function receive(server: string) {
  const frames: StatelyInspectionEvent[] = [];
  let heard = (): void => undefined;
  createWebSocketReceiver({ server }).subscribe((frame) => {
    frames.push(frame);
    heard();
  });
  return {
    frames,
    async until(isIt: (frame: StatelyInspectionEvent) => boolean): Promise<void> {
      while (!frames.some(isIt)) await new Promise<void>((resolve) => (heard = resolve));
    },
  };
}

const isActor = (name: string) => (frame: StatelyInspectionEvent) =>
  frame.type === '@xstate.actor' && frame.name === name;

const valueOf = (frame: StatelyInspectionEvent): unknown =>
  frame.type === '@xstate.snapshot' ? (frame.snapshot as { value?: unknown }).value : undefined;

describe('a gateway in the inspector', () => {
  it('[U-2] is seen by the official receiver going from calling to open, half-open and idle', async () => {
    const clock = new SimulatedClock();
    const gateway = createGateway({ clock });
    const breaker = { consecutiveFailures: 1, resetTimeoutMs: 1000 };
    let isUp = false;
    const search = gateway.integration('search', { policy: { breaker, retry: { maxAttempts: 1 } } }, () => {
      if (!isUp) throw Object.assign(new Error('down'), { status: 503 });
      return 'found';
    });
    const starting = gateway.start();
    await clock.settle();
    await starting;
    const { webSocketUrl } = await startInspected(gateway);
    const { frames, until } = receive(webSocketUrl);
    await until(isActor('integration:search'));
    const first = search.call(undefined);
    await clock.settle();
    expect((await first).ok).toBe(false);
    isUp = true;
    await clock.advance(2000);
    const second = search.call(undefined);
    await clock.settle();
    expect((await second).ok).toBe(true);
    await until((frame) => valueOf(frame) === 'half-open');
    await until((frame) => valueOf(frame) === 'idle' && frames.some((each) => valueOf(each) === 'half-open'));
    const states = frames.map(valueOf).filter((value, at, all) => value !== undefined && value !== all[at - 1]);
    expect(states.join(' ')).toContain('calling open half-open idle');
    const stopping = gateway.stop();
    await clock.advance(1000);
    await stopping;
  });

  it('[O-6] is watched only while somebody looks', async () => {
    const gateway = createGateway();
    await gateway.start();
    const { url } = await startInspected(gateway);
    const frames = inspectionOf(gateway);
    expect(frames?.viewers).toBe(0);
    const controller = new AbortController();
    await fetch(url.replace('/?', '/events?'), { signal: controller.signal });
    expect(frames?.viewers).toBe(1);
    controller.abort();
    while (frames?.viewers !== 0) await new Promise((resolve) => setImmediate(resolve));
  });

  it('[O-6] takes its inspector with it when it stops, and tells who looks', async () => {
    const gateway = createGateway();
    await gateway.start();
    const { url } = await startInspected(gateway);
    const response = await fetch(url.replace('/?', '/events?'));
    await gateway.stop();
    expect(await response.text()).toMatch(/data: \{"type":"unwedge\.end"\}\n\n$/);
    await expect(fetch(url)).rejects.toThrow('fetch failed');
    await expect(inspectWithStately(gateway)).rejects.toThrow('The gateway is stopped');
  });

  it('[O-6] goes on when its inspector closes', async () => {
    const gateway = createGateway();
    const kb = gateway.integration('kb', {}, () => 'found');
    await gateway.start();
    const inspector = await startInspected(gateway);
    await fetch(inspector.url.replace('/?', '/events?'));
    await inspector.close();
    expect(await kb.call(undefined)).toMatchObject({ ok: true, value: 'found' });
  });

  it('[O-6] can be looked at before it starts', async () => {
    const gateway = createGateway();
    gateway.integration('kb', {}, () => 'found');
    const { webSocketUrl } = await startInspected(gateway);
    const { frames, until } = receive(webSocketUrl);
    await until(isActor('root'));
    expect(frames.some(isActor('integration:kb'))).toBe(false);
    await gateway.start();
    await until(isActor('integration:kb'));
  });

  it.each<[string, unknown, RegExp]>([
    ['a port that is none', { port: 65_536 }, /`port`.*65536/],
    ['a stately that is neither true nor false', { stately: 'yes' }, /`stately`.*"yes"/],
    ['an option it does not know', { prot: 1 }, /prot.*port/],
  ])('[O-6] refuses %s', async (_, options, message) => {
    await expect(inspectWithStately(createGateway(), options as InspectOptions)).rejects.toThrow(message);
  });

  it('[O-6] is the only thing that can be inspected', async () => {
    for (const other of [{}, undefined, 'gateway']) {
      await expect(inspectWithStately(other as Gateway)).rejects.toThrow(TypeError);
    }
  });
});

describe('what is planted in a gateway', () => {
  it('[O-8] is in no frame and not in the page: secrets by name, by shape and of the environment, prompts, command lines, messages', async () => {
    const planted = [
      'plantedenvironmentvalue',
      'plantedname',
      `ghp_${'aB3x'.repeat(9)}`,
      'plantedargument',
      'plantedinput',
    ];
    const [environment = '', named = '', shaped = '', argument = '', said = ''] = planted;
    vi.stubEnv('PLANTED_API_KEY', environment);
    const gateway = createGateway();
    const breaker = { consecutiveFailures: 1 };
    const search = gateway.integration('search', { policy: { breaker } }, () => {
      throw Object.assign(new Error(`${said} ${shaped}`), { status: 401 });
    });
    const code = 'process.stdin.resume(); process.stdin.on("data", (d) => process.stdout.write(d)); process.argv';
    const args = ['-e', code, argument, '--token', named];
    const tool = gateway.subprocess('tool', { command: process.execPath, args, env: { PLAIN: named } });
    const indiscreet = gateway.subprocess(`tool of ${shaped}`, { command: process.execPath, args: ['-e', ''] });
    const asked = gateway.approval('deploy', () => {
      const cause = Object.assign(new Error(`with ${shaped}`), { apiKey: named });
      throw Object.assign(new Error(`password=${named} of ${environment}`), { cause, prompt: said });
    });
    const session = gateway.session('agent:main', {
      onMessage: (_, turn) => turn.tool('tool', 'run', { stdin: said }),
    });
    await gateway.start();
    const { url } = await startInspected(gateway);
    const stream = await inspectionOf(gateway)?.open();
    let seen = '';
    stream?.on('data', (frame) => (seen += String(frame)));
    const page = await (await fetch(url)).text();

    await search.call(undefined);
    expect(await tool.call({ stdin: said, args: [argument] })).toMatchObject({ ok: true });
    await indiscreet.call({});
    await asked({ action: said, payload: { question: said, key: named } });
    const { processed } = (await session.send({ kind: 'user', data: said })) as { processed: Promise<unknown> };
    await processed;
    const ended = stream === undefined ? undefined : once(stream, 'end');
    await gateway.stop();
    await ended;

    const shown = [
      'password=[redacted] of [redacted]',
      'with [redacted]',
      'integration:search',
      'integration:tool',
      'session:agent:main',
      String.raw`\"id\":\"subprocess\"`,
      'xstate.done.actor.process:tool of [redacted]',
      String.raw`\"id\":\"approval\"`,
    ];
    expect(shown.filter((name) => !seen.includes(name))).toEqual([]);
    for (const secret of planted)
      expect([secret, seen.includes(secret), page.includes(secret)]).toEqual([secret, false, false]);
  });
});
