import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import { createShownNames } from '../../../src/redaction/shownNames.ts';
import { deferred } from '../../support/deferred.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { call } from '../startCli.ts';

/** Built from parts, so that scanners of this repository do not take it for a real one. */
const key = ['sk', 'ant', 'api03', 'aB3x7890aB3x7890aB3x7890'].join('-');
const [kb, slow, agent] = [`kb ${key}`, `slow ${key}`, `agent ${key}`];
const [shownKb = '', shownSlow = '', shownAgent = ''] = [kb, slow, agent].map(createShownNames());

/** A gateway whose names hold a secret: an open circuit, and a session that waits for a call. Stopped when the test ends, if not before. */
async function startSecretNames() {
  vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
  const db = join(temporaryDirectory(), 'names.db');
  const gateway = createGateway({ store: db, alerts: false });
  const policy = { retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 1 } };
  const open = gateway.integration(kb, { policy }, () => {
    throw new AttemptError({ kind: 'transient', message: 'refused', outcome: 'failed' });
  });
  const called = deferred();
  gateway.integration(slow, {}, (_input, { signal }) => {
    called.resolve('');
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  });
  const session = gateway.session(agent, { onMessage: (_, turn) => turn.tool(slow, 'read', {}) });
  await gateway.start();
  let stopping: Promise<unknown> | undefined;
  const stop = () => (stopping ??= gateway.stop());
  onTestFinished(async () => void (await stop()));
  await open.call(undefined);
  await session.send({ kind: 'user', text: 'go' });
  await called.promise;
  const run = async (...words: string[]) => {
    const { code, stdout, stderr } = await call([...words, '--db', db], { now: () => Date.now() });
    return { code, text: stdout + stderr };
  };
  return { run, stop };
}

it('[O-8] [L-5] why tells a session and an integration under the names that why alone lists, and is given by them or by their own', async () => {
  const { run, stop } = await startSecretNames();
  const list = await run('why');
  expect(list.text).toContain(`unwedge why '${shownAgent}'`);
  expect(list.text).not.toContain(key);
  const told = async (given: string, ...options: string[]): Promise<string> => {
    const { code, text } = await run('why', given, ...options);
    expect([code, text.includes(key)]).toEqual([0, false]);
    return text;
  };
  for (const given of [agent, shownAgent]) {
    expect(await told(given)).toContain(`${shownAgent} processes `);
    expect(JSON.parse(await told(given, '--json'))).toMatchObject({ live: true, session: shownAgent });
  }
  for (const given of [kb, shownKb]) {
    expect(await told(given)).toContain(`! ${shownKb} is not called: its circuit is open`);
    expect(JSON.parse(await told(given, '--json'))).toMatchObject({ integration: shownKb, circuit: 'open' });
  }
  await stop();
  for (const given of [agent, shownAgent]) expect(await told(given)).toContain(`${shownAgent}, by its records:`);
});

it('[O-8] status tells what is on record under the name itself and under that without its secret as one', async () => {
  const { run, stop } = await startSecretNames();
  await stop();
  const { integrations } = JSON.parse((await run('status', '--json')).text) as {
    integrations: { integration: string }[];
  };
  expect(integrations.filter(({ integration }) => integration === shownKb)).toMatchObject([
    { circuit: 'open', failures10m: 1, lastError: { error: 'refused' } },
  ]);
});

it('[O-8] no command repeats the secret of a name that it was given, or lists it among those that are known', async () => {
  const { run } = await startSecretNames();
  const typo = `kx ${key}`;
  for (const words of [
    ...['why', 'probe', 'restart', 'cancel'].flatMap((name) => [
      [name, typo],
      [name, 'nothing like it'],
    ]),
    ['probe', kb, '--json'],
    ['restart', shownKb, '--json'],
    ['cancel', slow],
    ['why', typo, '--fire'],
    ...['events', 'report'].flatMap((name) =>
      [kb, typo, 'nothing like it'].map((given) => [name, '--integration', given]),
    ),
    ['completion', '--suggest', '--', 'why', ''],
  ])
    expect((await run(...words)).text).not.toContain(key);
  expect(await run('cancel', shownSlow)).toEqual(await run('cancel', slow));
  expect((await run('events', '--integration', kb)).text).toContain('breaker/opened');
});
