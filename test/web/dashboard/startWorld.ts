import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import { createGateway } from '../../../src/index.ts';
import { openDatabase } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** What a page would run that took names and errors for markup. */
export const script = '<img src=x onerror="document.title=1">';

/**
 * A gateway with some of everything: circuits closed, open and isolated, a session with a turn of calls in each state, one that asks a
 * person, one with a history of turns that went well and badly, messages that are dead letters, and names that look like markup.
 */
export async function startWorld() {
  const home = temporaryDirectory();
  vi.stubEnv('XDG_RUNTIME_DIR', home);
  const path = join(home, 'gateway.sqlite');
  const gateway = createGateway({
    store: path,
    logger: false,
    toolCallRetry: { maxAttempts: 4, backoffMs: [150, 40_000] },
  });
  onTestFinished(() => gateway.stop());
  const once = { retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 1, resetTimeoutMs: 600_000 } };
  const fails = (status: number, message: string): never => {
    throw Object.assign(new Error(message), { status });
  };
  let attempts = 0;
  const kb = gateway.integration('kb', {}, () => {
    attempts += 1;
    return attempts % 2 === 1 ? fails(503, 'gateway closed (1012): service restart') : 'three documents';
  });
  const crm = gateway.integration('crm', {}, () => fails(503, '503 Service Unavailable: try again later'));
  const slack = gateway.integration('slack', {}, () => new Promise(() => undefined));
  const search = gateway.integration('search', { policy: once }, () =>
    fails(
      503,
      'connect ECONNREFUSED 10.0.3.7:7700, which is a long error that somebody wrote, and it does not end soon',
    ),
  );
  const odd = gateway.integration(script, { policy: { retry: { maxAttempts: 1 } } }, () => fails(400, script));
  gateway.integration('a-long-name-of-an-integration-that-somebody-was-proud-of', {}, () => 'fine');
  const main = gateway.session('agent:main', {
    async onMessage({ text }, turn) {
      if (text === 'quick') return void (await turn.tool(kb, 'search', {}));
      if (text === 'bad') {
        await turn.tool(odd, script, {});
        throw new Error('the handler gave up: no customer of this name');
      }
      await turn.tool(kb, 'search', {});
      await Promise.all([
        turn.tool(search, 'query', {}),
        turn.tool(crm, 'update_contact', {}),
        turn.tool(slack, 'history', {}),
      ]);
    },
  });
  const ops = gateway.session('agent:ops', {
    onMessage: (_message, turn) => turn.ask('Delete 3 files in /srv/reports?', () => new Promise(() => undefined)),
  });
  gateway.session('agent:idle', { onMessage: () => undefined });
  await gateway.start();
  const send = async (text: string): Promise<void> => {
    const sent = await main.send({ kind: 'user', text });
    if (sent.accepted && text !== 'stay') await sent.processed.catch(() => undefined);
  };
  await search.call({});
  gateway.integration('held', {}, () => 'fine').breaker.isolate();
  await send('quick');
  await send('bad');
  await send('stay');
  await send('stay');
  await ops.send({ kind: 'user', text: 'clean up' });
  const database = openDatabase(path);
  const letter = database.prepare(
    `INSERT INTO unwedge_messages (session, number, body, state, deliveries, posted_at, ended_at)
     VALUES ('agent:main', ?, ?, ?, 3, CAST(? AS INTEGER), CAST(? AS INTEGER))`,
  );
  const at = Date.now() - 900_000;
  letter.run(901, JSON.stringify({ kind: 'user', text: `the nightly report, ${script}` }), 'poison', at, at + 60_000);
  letter.run(902, 'no message', 'malformed', at, at + 61_000);
  return { gateway, path };
}
