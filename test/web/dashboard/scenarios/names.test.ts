import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../../../src/index.ts';
import { hasSqlite } from '../../../store/startStore.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { sourceOf } from '../startDashboard.ts';

const keys = ['ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'ghp_26C7e42F292c6912E7710c838347Ae178B4b'] as const;
const session = 'sk-ant-api03-PLANTED0planted1PLANTED2planted3PLANTED4planted5';
const planted = [...keys, session];

/** A gateway whose names are secrets: two integrations, one tool, one session with a turn that waits for a call. */
async function start() {
  const home = temporaryDirectory();
  vi.stubEnv('XDG_RUNTIME_DIR', home);
  const path = join(home, 'gateway.sqlite');
  const gateway = createGateway({ store: path, logger: false });
  const policy = { breaker: { consecutiveFailures: 1, resetTimeoutMs: 600_000 }, retry: { maxAttempts: 1 } };
  const integrations = keys.map((name) =>
    gateway.integration(name, { policy }, () => {
      throw Object.assign(new Error('down'), { status: 503 });
    }),
  );
  let begun = (): void => undefined;
  const inTurn = new Promise<void>((resolve) => (begun = resolve));
  const slow = gateway.integration('slow', {}, () => {
    begun();
    return new Promise(() => undefined);
  });
  const agent = gateway.session(session, { onMessage: (_message, turn) => turn.tool(slow, keys[0], {}) });
  await gateway.start();
  onTestFinished(() => gateway.stop());
  await Promise.all(integrations.map((each) => each.call(undefined)));
  await agent.send({ kind: 'user', text: 'go' });
  await inTurn;
  return { path, source: sourceOf(path), integrations };
}

const leaks = (value: unknown): readonly string[] => planted.filter((name) => JSON.stringify(value).includes(name));

describe.skipIf(!hasSqlite)('names with the shape of a secret', () => {
  it('[O-8] [O-13] are shown without it, apart from each other, in all that the dashboard tells', async () => {
    const { source } = await start();
    const snapshot = await source.snapshot(3_600_000);
    const open = snapshot.integrations.filter(({ circuit }) => circuit === 'open').map(({ key }) => key);
    expect(open).toHaveLength(2);
    expect(new Set(open).size).toBe(2);
    const [shownSession] = snapshot.sessions.map(({ key }) => key);
    const detail = await source.session(shownSession ?? '');
    expect(detail?.why?.calls).toHaveLength(1);
    const told = {
      ...{ snapshot, detail, trees: await source.trees(), letters: await source.letters() },
      ...{ events: await source.events({ limit: 100 }), incident: await source.incident(shownSession ?? '') },
      metrics: await source.metrics(),
    };
    expect(Object.entries(told).map(([what, value]) => [what, leaks(value)])).toEqual(
      Object.keys(told).map((what) => [what, []]),
    );
  });

  it('[O-8] [O-12] are series of their own in the metrics', async () => {
    const { source } = await start();
    await expect
      .poll(async () => {
        const states = (await source.metrics()).find(({ name }) => name === 'unwedge_circuit_state');
        const open = states?.samples.filter(({ labels, value }) => labels['state'] === 'open' && value === 1) ?? [];
        return new Set(open.map(({ labels }) => labels['integration'])).size;
      })
      .toBe(2);
  });

  it('[O-8] [O-13] are understood in orders and questions, also by a dashboard that has not shown them yet', async () => {
    const { path, source, integrations } = await start();
    const { integrations: rows, sessions } = await source.snapshot(3_600_000);
    const shown = rows.filter(({ circuit }) => circuit === 'open').map(({ key }) => key);
    expect(await source.order({ order: 'reset', name: shown[0] ?? '', by: 'kim' })).toMatchObject({ ok: true });
    expect(integrations.map(({ breaker }) => breaker.state).sort()).toEqual(['closed', 'open']);
    const another = sourceOf(path);
    expect(await another.order({ order: 'reset', name: shown[1] ?? '', by: 'kim' })).toMatchObject({ ok: true });
    expect(integrations.map(({ breaker }) => breaker.state)).toEqual(['closed', 'closed']);
    const id = sessions[0]?.key ?? '';
    expect((await sourceOf(path).session(id))?.why?.calls).toHaveLength(1);
    const found = await source.events({ session: id, limit: 100 });
    expect(found.events.length).toBeGreaterThan(0);
    expect(await source.order({ order: 'restart', name: id, by: 'kim' })).toMatchObject({ ok: true });
  });

  it('[O-8] [O-13] have their rules fired in a session that is not shown either', async () => {
    const { source } = await start();
    const { sessions } = await source.snapshot(3_600_000);
    const name = sessions[0]?.key ?? '';
    const rules = (await source.session(name))?.why?.rules ?? [];
    expect(rules.length).toBeGreaterThan(1);
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
    const watchdog = rules.find(({ rule }) => rule === 'tool_call')?.id ?? '';
    const fired = await source.order({ order: 'fire', name, target: watchdog, by: 'kim' });
    expect(fired.ok).toBe(true);
    expect(fired.text).toContain('The watchdog ended the call');
    expect(leaks([rules, fired])).toEqual([]);
    const again = await source.order({ order: 'fire', name, target: watchdog, by: 'kim' });
    expect(again).toMatchObject({ ok: false });
    expect(leaks(again)).toEqual([]);
  });

  it('[O-8] [O-13] have a call cancelled by the id that is shown of it', async () => {
    const { source } = await start();
    const name = (await source.snapshot(3_600_000)).sessions[0]?.key ?? '';
    const target = (await source.session(name))?.why?.calls[0]?.call ?? '';
    const cancelled = await source.order({ order: 'cancel', name, target, by: 'kim' });
    expect(cancelled).toMatchObject({ ok: true });
    expect(cancelled.text).toMatch(/^The call /);
    expect(leaks([target, cancelled])).toEqual([]);
  });
});
