import { join } from 'node:path';
import { userInfo } from 'node:os';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { Fact } from '../../../src/policy/facts/facts.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { call, databaseWith } from '../startCli.ts';

/** A gateway with a session whose first message is a call of `kb` that hangs. */
async function startHanging(db = join(temporaryDirectory(), 'gateway.sqlite')) {
  vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
  const gateway = createGateway({ store: db, logger: false });
  const facts: Fact[] = [];
  gateway.on('*', (fact) => void facts.push(fact));
  const fail = { breaker: { consecutiveFailures: 1 }, retry: { maxAttempts: 1 } };
  const down = gateway.integration('down', { policy: fail }, () => Promise.reject(new Error('gateway closed (1012)')));
  gateway.integration('kb', {}, (_input, { signal }) => {
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
  });
  const results: unknown[] = [];
  const session = gateway.session('agent:main', {
    onMessage: async (_message, turn) => void results.push(await turn.tool('kb', 'search')),
  });
  await gateway.start();
  onTestFinished(() => gateway.stop());
  const run = (...words: string[]) => call([...words, '--db', db]);
  return {
    gateway,
    session,
    down,
    results,
    run,
    db,
    told: (type: string) => facts.filter((fact) => fact.type === type),
  };
}

const by = userInfo().username;

describe.skipIf(!hasSqlite)('orders on the command line', () => {
  it('[O-13] has the rule act that a session waits for next, or another one of it', async () => {
    const { session, results, run, told } = await startHanging();
    expect(await run('why', 'agent:main', '--fire')).toMatchObject({ code: 1 });
    const first = await session.send({ kind: 'user' });
    const { stdout } = await run('why', 'agent:main', '--json');
    const { rules } = JSON.parse(stdout) as { rules: { id: string; rule: string }[] };
    expect(rules.map(({ rule }) => rule)).toEqual(['idle_timeout', 'tool_call']);
    const watchdog = rules[1]?.id ?? '';
    const fired = await run('why', 'agent:main', '--fire', '--rule', watchdog, '--reason', 'the vendor is down');
    expect(fired).toEqual({
      code: 0,
      stdout:
        'The watchdog ended the call search (agent:main-1-1) of session agent:main; its caller got a synthetic error result.\n',
      stderr: '',
    });
    if (first.accepted) await first.processed;
    expect(results).toMatchObject([{ kind: 'watchdog' }]);
    expect(told('operator.fired')).toMatchObject([{ rule: 'tool_call', by, why: 'the vendor is down' }]);
    await session.send({ kind: 'user' });
    const again = await run('why', 'agent:main', '--fire', '--rule', watchdog);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is over, or there never was one')]);
    expect(await run('why', 'agent:main', '--fire')).toMatchObject({ code: 0 });
    expect(told('operator.fired')).toMatchObject([{}, { rule: 'idle_timeout' }]);
  });

  it('[G-16] says and raises a budget, in figures too, and refuses what raises nothing', async () => {
    const { gateway, run, told } = await startHanging();
    const budget = { session: { toolCalls: 5 } };
    const main = gateway.session('main', { budget, onMessage: (_message, turn) => turn.spend({ tokens: 3 }) });
    await main.send({ kind: 'user' });
    for (const amount of ['2X', '0', '3M/week'])
      expect(await run('budget', 'nobody', '--tool-calls', amount)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`\`--tool-calls\` to be an amount above 0`) as string,
      });
    expect(await run('budget', 'main', '--tool-calls', '9', '--rounds', '9')).toMatchObject({ code: 2 });
    expect(await run('budget', 'main', '--tool-calls', '3')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('which 3 does not raise') as string,
    });
    expect(told('budget.raised')).toEqual([]);
    expect((await run('budget', 'main', '--money', '3')).stderr).toContain('its limits: 5 tool calls of the session');
    const { code, stdout } = await run('budget', 'main', '--tool-calls', '9', '--json');
    const limit = { scope: 'session:main', per: 'session', metric: 'toolCalls', most: 9, used: 0 };
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { limits: [limit] }]);
    expect(JSON.parse((await run('budget', 'main', '--json')).stdout)).toMatchObject({ limits: [limit] });
  });

  it('[O-13] cancels a call, a turn, and what would be tried again', async () => {
    const { session, results, run, told, db } = await startHanging();
    await session.send({ kind: 'user' });
    await session.send({ kind: 'user' });
    expect((await run('why', 'agent:main')).stdout).toContain('kb search (agent:main-1-1) for');
    expect(await run('cancel', 'agent:main', 'agent:main-1-1', '--no-retry')).toMatchObject({ code: 0 });
    expect(told('operator.retries_stopped')).toMatchObject([{ call: 'agent:main-1-1', attempt: 1, by }]);
    expect(await run('cancel', 'agent:main', 'agent:main-1-1', '--json')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('"order": "cancel"') as string,
    });
    await expect.poll(() => session.why().turn?.turn).toBe(2);
    const { code, stdout } = await call(['cancel', 'agent:main', '--db', db], { columns: 40 });
    expect(code).toBe(0);
    for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(40);
    await expect.poll(() => results.length).toBe(2);
    expect(told('operator.cancelled')).toMatchObject([{ call: 'agent:main-1-1' }, { turn: 2 }]);
    await expect.poll(() => session.state).toBe('idle');
    const none = await run('cancel', 'agent:main');
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('there is nothing to cancel')]);
  });

  it('[O-13] has an open circuit probed', async () => {
    const { down, run, told } = await startHanging();
    expect((await run('probe', 'down')).stderr).toContain('there is nothing to probe');
    await down.call(undefined);
    expect(await run('probe', 'down', '--reason', 'mended')).toEqual({
      code: 0,
      stdout: 'The next call of down is let through as the probe.\n',
      stderr: '',
    });
    expect(told('operator.probed')).toMatchObject([{ integration: 'down', how: 'next_call', by, why: 'mended' }]);
    const { stdout } = await run('status');
    expect(stdout).toMatch(
      /^! down is not called: its circuit is open \(1 attempt failed, consecutiveFailures 1\), the next call tries it/,
    );
    expect(stdout).not.toContain('unwedge probe');
    expect((await run('probe', 'nobody')).stderr).toContain(
      'No live gateway has nobody, and nothing was done; known: down, kb',
    );
  });

  it('[M-15] shows the circuit of a tool that is not closed, as text, as data, in the tree and in the metrics', async () => {
    const { down, run } = await startHanging();
    onTestFinished(down.breaker.of('charge').isolate());
    const { stdout } = await run('status');
    expect(stdout).toMatch(/^! down: the circuit of its tool charge is held open by an operator$/m);
    expect(stdout).toMatch(/^down +closed, 1 tool refused /m);
    expect(JSON.parse((await run('status', '--json')).stdout)).toMatchObject({
      integrations: [{ integration: 'down', live: [{ tools: [{ tool: 'charge', circuit: 'isolated' }] }] }, {}],
      attention: [{ what: 'down: the circuit of its tool charge is held open by an operator' }],
    });
    expect((await run('status', '--tree')).stdout).toContain('The circuit of the tool charge of down is isolated.\n');
    expect((await run('metrics')).stdout).toContain(
      'unwedge_tool_circuit_state{integration="down",tool="charge",state="isolated"} 1\n',
    );
    const probed = await run('probe', 'down');
    expect([probed.code, probed.stderr]).toEqual([1, expect.stringContaining('held open by an operator')]);
  });

  it('[O-13] restarts for a reason that is kept, as every other order', async () => {
    const { run, told } = await startHanging();
    expect(await run('restart', 'kb', '--reason', ' it hangs ')).toMatchObject({ code: 0 });
    expect(told('operator.restarted')).toMatchObject([{ integration: 'kb', by, why: 'it hangs' }]);
  });

  it('[O-13] says what a session waits for in process as on the command line: without secrets', async () => {
    const { gateway } = await startHanging();
    const secret = ['ghp', 'aB3x'.repeat(9)].join('_');
    const asker = gateway.session('asker', {
      onMessage: (_message, turn) => turn.ask(`push with ${secret}?`, () => new Promise(() => undefined)),
    });
    await asker.send({ kind: 'user' });
    await expect.poll(() => gateway.why('asker').questions.length).toBe(1);
    expect(gateway.why('asker').questions).toMatchObject([{ what: 'push with [redacted]?' }]);
    expect(JSON.stringify(gateway.why('asker'))).not.toContain(secret);
  });

  it('[O-13] names the value and the rules there are where --rule is none of them', async () => {
    const { session, run } = await startHanging();
    await session.send({ kind: 'user' });
    const { code, stderr } = await run('why', 'agent:main', '--fire', '--rule', 'nonsense');
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /There is no rule "nonsense" of "agent:main": .*Its rules: agent:main-1-1:1:idle_timeout \(.*\), agent:main-1-1:watchdog \(/,
    );
    expect(await run('why', 'agent:main', '--fire', '--rule', 'tool_call')).toMatchObject({ code: 0 });
  });

  it('[O-13] takes a rule by the name that is shown of it', async () => {
    const { gateway, session, run, told } = await startHanging();
    await session.send({ kind: 'user' });
    expect((await run('why', 'agent:main')).stdout).toContain('also: watchdog in ');
    expect(await run('why', 'agent:main', '--fire', '--rule', 'watchdog')).toMatchObject({ code: 0 });
    expect(told('operator.fired')).toMatchObject([{ rule: 'tool_call' }]);
    const both = gateway.session('agent:both', {
      onMessage: (_message, turn) => Promise.all([turn.tool('kb', 'search'), turn.tool('kb', 'find')]),
    });
    await both.send({ kind: 'user' });
    const { code, stderr } = await run('why', 'agent:both', '--fire', '--rule', 'watchdog');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^unwedge: 2 rules of "agent:both" have the name "watchdog"/),
    ]);
    expect(stderr).toMatch(/Their ids: agent:both-1-1:watchdog \(.*\), agent:both-1-2:watchdog \(/);
  });

  it('[O-13] leave no turn that an operator ended among what needs attention', async () => {
    const { gateway, run, told } = await startHanging();
    const throws = (_message: unknown, { signal }: { readonly signal: AbortSignal }): Promise<void> =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))));
    const free = gateway.session('agent:free', { onMessage: throws });
    const failing = gateway.session('agent:bad', { onMessage: () => Promise.reject(new Error('no customer')) });
    await free.send({ kind: 'user' });
    expect(await run('cancel', 'agent:free')).toMatchObject({ code: 0 });
    await failing.send({ kind: 'user' });
    await expect.poll(() => told('session.turn_failed')).toHaveLength(2);
    await gateway.store?.flush();
    const { stdout } = await run('status');
    expect(stdout).toContain(
      '! session agent:bad failed in 1 turn of the last 24h, and no turn went well since: unknown: no customer\n  next: unwedge why agent:bad',
    );
    expect(stdout).not.toContain('! session agent:free');
  });

  it.each([
    ['probe', 'dwon', 'did you mean down?'],
    ['cancel', 'agent:mian', 'did you mean agent:main?'],
    ['cancel', 'kb', 'kb is an integration and no session: nothing was done.'],
  ])('[O-13] %s %s suggests what is known', async (order, name, said) => {
    const { run } = await startHanging();
    const { code, stderr } = await run(order, name);
    expect([code, stderr]).toEqual([1, expect.stringContaining(said)]);
  });

  it('[O-13] lists dead letters, sends them again and drops them', async () => {
    const first = await startHanging();
    for (let count = 0; count < 4; count++) await first.session.send({ kind: 'user', text: `text ${count}` });
    await first.gateway.stop();
    openDatabase(first.db).exec('UPDATE unwedge_messages SET posted_at = 1');
    const { gateway, run } = await startHanging(first.db);
    const listed = await run('letters');
    expect(listed.stdout.match(/^agent:main-m\d /gm)).toHaveLength(4);
    expect(listed.stdout).toContain(`\n  unwedge letters --send agent:main-m4 --db ${first.db}\n`);
    expect(listed.stdout).toContain(`\n  unwedge letters --drop agent:main-m4 --db ${first.db}\n`);
    expect(listed.stdout).toMatch(/\n\nexpired: it waited too long to be delivered; .*\n$/);
    expect((await run('status')).stdout).toContain('! 4 dead letters of session agent:main (4 expired)\n');
    expect(listed.stdout).toMatch(/^agent:main-m4 \(user\) expired, accepted .* ago: text 3$/m);
    expect(await run('letters', '--send', 'agent:main-m1')).toMatchObject({
      code: 0,
      stdout: 'agent:main-m1 was sent again as agent:main-m5.\n',
    });
    expect(await run('letters', '--drop', 'agent:main-m2')).toMatchObject({ code: 0 });
    expect((await run('letters', '--send', 'agent:main-m2')).stderr).toContain('is no dead letter');
    await gateway.stop();
    const database = openDatabase(first.db);
    database.exec(`UPDATE unwedge_messages SET deliveries = 2, turn = 900 WHERE number = 3;
      INSERT INTO unwedge_calls (id, session, turn, integration, tool, input, effect, runtime, started_at, deadline_at, seq, state, message)
      VALUES ('a', 'agent:main', 900, 'bank', 'charge', '{}', NULL, 'r', 1, 1, 1, 'settled', NULL),
        ('b', 'agent:main', 900, 'mail', 'send', '{}', 'mutating', 'r', 1, 1, 2, 'settled', NULL),
        ('c', 'agent:main', 900, 'bank', 'once', '{}', NULL, 'r', 1, 1, 3, 'settled', 3),
        ('d', 'agent:main', 900, 'kb', 'search', '{}', 'readOnly', 'r', 1, 1, 4, 'settled', NULL)`);
    const named = '1 letter of 2 begun before, what may be made again: bank charge, mail send';
    const asked = await run('letters', 'agent:main', '--send-all');
    expect([asked.code, asked.stderr]).toEqual([
      2,
      expect.stringContaining(`${named}. To send all without a question: --yes`),
    ]);
    expect(JSON.parse((await run('letters', '--json')).stdout)).toMatchObject([
      {},
      { again: ['bank charge', 'mail send'] },
    ]);
    const questions: string[] = [];
    const answers = ['n', 'YES'];
    const ask = (question: string) => Promise.resolve((questions.push(question), answers.shift() ?? ''));
    const words = ['letters', 'agent:main', '--send-all', '--db', first.db];
    const refused = await call(words, { ask });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Nothing was sent again')]);
    // Its one turn called nothing: nothing can be made again, and nobody is asked.
    database.exec('UPDATE unwedge_messages SET deliveries = 1, turn = 901 WHERE number = 3');
    const all = await run('letters', 'agent:main', '--send-all');
    expect(questions).toEqual([`${named}.\nSend 2 again? [y/N] `]);
    expect(all).toEqual({ code: 0, stdout: '2 of 2 sent again.\n', stderr: 'unwedge: 1 of 2\nunwedge: 2 of 2\n' });
    expect((await run('letters')).stdout).toBe('No dead letters.\n');
  });

  it.each([
    [['cancel', 's', '--no-retry'], '--no-retry needs a CALL'],
    [['cancel'], 'Missing SESSION'],
    [['probe'], 'Missing NAME'],
    [['why', 's', '--rule', 'x'], '--rule goes with --fire'],
    [['why', 's', '--reason', 'x'], '--reason goes with --fire'],
    [['letters', '--send', 'x', '--drop', 'y'], 'exclude each other'],
    [['letters', '--send', 'x'], 'Expected the id of a message'],
  ])('[O-13] [L-1] refuses %j as misuse', async (words, said) => {
    const { code, stderr } = await call([...words, '--db', await databaseWith()]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
  });
});
