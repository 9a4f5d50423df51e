import { describe, expect, it } from 'vitest';
import { runBuilt } from '../cli/startCli.ts';
import { hasSqlite } from '../store/startStore.ts';
import { parsePrometheus } from '../support/prometheusText.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { found, startHost, unavailable } from './startHost.ts';

type Host = Awaited<ReturnType<typeof startHost>>;

/** A sample of the search of a host. */
async function sampleOf({ url }: Host, family: string, labels: object = {}): Promise<string | undefined> {
  const families = parsePrometheus(await (await fetch(`${url}/metrics`)).text());
  const wanted = Object.entries({ integration: 'search', ...labels });
  return families[`unwedge_${family}`]?.metrics.find((each) =>
    wanted.every(([label, value]) => each.labels?.[label] === value),
  )?.value;
}

/** Has the circuit of the search opened. */
async function openCircuit({ upstream, search }: Host): Promise<void> {
  upstream.answer = unavailable;
  for (const query of ['1', '2', '3']) await search(query);
}

describe.skipIf(!hasSqlite)('examples/express.ts', () => {
  it('[G-11] [M-8] does not use up a message on an open circuit, before a kill nor after it', async () => {
    const directory = temporaryDirectory();
    const env = { STORE: `${directory}/gateway.sqlite`, LOOK_MS: '100', XDG_RUNTIME_DIR: directory };
    const first = await startHost('express.ts', env);
    const { upstream } = first;
    await openCircuit(first);
    const cut = first.say('mailboxes', 'key-1').catch(() => 'cut');
    const refused = Number(await sampleOf(first, 'refusals_total'));
    await expect.poll(async () => Number(await sampleOf(first, 'refusals_total'))).toBeGreaterThan(refused);
    await first.kill();
    expect(await cut).toBe('cut');
    const asked = upstream.asked.length;

    const second = await startHost('express.ts', env, upstream);
    expect(await sampleOf(second, 'circuit_state', { state: 'open' })).toBe('1');
    // The recovered message has met it, and waits.
    await expect.poll(async () => Number((await sampleOf(second, 'refusals_total')) ?? 0)).toBeGreaterThan(1);
    expect((await second.say('mailboxes', 'key-1')).status).toBe(202);
    expect(second.said.filter((line) => line.startsWith('customer:'))).toEqual([]);
    expect(upstream.asked).toHaveLength(asked);

    upstream.answer = found;
    const { code } = await runBuilt(['probe', 'search', '--db', env.STORE], {
      ...process.env,
      XDG_RUNTIME_DIR: directory,
    });
    expect(code).toBe(0);
    expect(await second.heard('customer:')).toBe('customer:fay: Echo: ["mailboxes"]');
    expect(upstream.asked.slice(asked)).toEqual(['mailboxes']);
    expect(await sampleOf(second, 'circuit_state', { state: 'closed' })).toBe('1');
    expect(await second.stop()).toEqual([0, null]);
  });

  it('[M-2] waits as long as the circuit says, and tries again once', async () => {
    const host = await startHost('express.ts', { OPEN_MS: '1000' });
    await openCircuit(host);
    const refused = Number(await sampleOf(host, 'refusals_total'));
    const answer = host.say('mailboxes');
    await expect.poll(async () => Number(await sampleOf(host, 'refusals_total'))).toBe(refused + 1);
    host.upstream.answer = found;
    expect([(await answer).status, await (await answer).json()]).toEqual([
      200,
      { ok: true, text: 'Echo: ["mailboxes"]' },
    ]);
    expect(Number(await sampleOf(host, 'refusals_total'))).toBe(refused + 1);
    expect(await host.stop()).toEqual([0, null]);
  });

  it('[I-1] keeps a message that waits for a circuit over a stop', async () => {
    const env = { STORE: `${temporaryDirectory()}/gateway.sqlite`, DRAIN_MS: '0' };
    const first = await startHost('express.ts', env);
    await openCircuit(first);
    const refused = Number(await sampleOf(first, 'refusals_total'));
    const answer = first.say('mailboxes');
    await expect.poll(async () => Number(await sampleOf(first, 'refusals_total'))).toBeGreaterThan(refused);
    expect(await first.stop()).toEqual([0, null]);
    expect((await answer).status).toBe(503);
    first.upstream.answer = found;
    const second = await startHost('express.ts', { ...env, WAIT_MS: '0' }, first.upstream);
    // It waits no longer than it was told: the customer is answered.
    expect(await second.heard('customer:fay: ')).toMatch(/search.*try again in/);
    expect(await second.stop()).toEqual([0, null]);
  });
});
