import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createGateway } from '../../../src/index.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { call } from '../startCli.ts';

/** A gateway whose approval and session ask a person, and the command line on its database. */
async function startAsking() {
  const home = temporaryDirectory();
  vi.stubEnv('XDG_RUNTIME_DIR', home);
  const db = join(home, 'gateway.sqlite');
  const gateway = createGateway({ store: db, inbox: true, logger: false });
  onTestFinished(() => gateway.stop());
  const said: unknown[] = [];
  const approve = gateway.approval('deploys');
  const session = gateway.session('s1', {
    onMessage: async (_message, turn) => void said.push(await turn.ask('which host?', undefined, { form: 'text' })),
  });
  await gateway.start();
  const approval = approve({ action: 'deploy to prod', payload: { host: 'a' } });
  await expect.poll(() => gateway.inbox?.open()).toHaveLength(1);
  await session.send({ kind: 'user' });
  await expect.poll(() => gateway.inbox?.open()).toHaveLength(2);
  const [first, second] = ((await gateway.inbox?.open()) ?? []).map(({ id }) => id);
  const run = (words: readonly string[], later = 0) =>
    call([...words, '--db', db], { now: () => Date.now() + later, columns: 60 });
  return { gateway, run, approval, said, first: first ?? '', second: second ?? '' };
}

describe.skipIf(!hasSqlite)('unwedge inbox', () => {
  it('[G-17] lists what waits, with the command that answers it, on 60 columns', async () => {
    const { run, first, second } = await startAsking();
    const { code, stdout } = await run(['inbox'], 4 * 60_000);
    expect(code).toBe(0);
    for (const words of ['deploys asks', 'deploy to prod', '{"host":"a"}', 's1 asks', 'which host?']) {
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(words);
    }
    expect(stdout).toContain(`unwedge inbox answer ${first.slice(0, 8)} --allow`);
    expect(stdout).toContain(`unwedge inbox answer ${second.slice(0, 8)} --text TEXT`);
    const told = stdout.split('\n').filter((line) => !line.includes('unwedge inbox answer'));
    expect(Math.max(...told.map((line) => line.length))).toBeLessThanOrEqual(60);
    const data = JSON.parse((await run(['inbox', '--json'])).stdout) as Record<string, unknown>[];
    expect(data).toMatchObject([{ id: first, detail: { host: 'a' } }, { id: second }]);
    expect(data[0]).not.toHaveProperty('place');
    expect(data[0]).not.toHaveProperty('waiter');
  });

  it('[G-17] answers by the beginning of the id; the one who waits goes on within a second', async () => {
    const { run, approval, said, first, second, gateway } = await startAsking();
    const allowed = await run(['inbox', 'answer', first.slice(0, 8), '--allow', '--by', 'Ana Ruiz', '--reason', 'go']);
    expect(allowed.code).toBe(0);
    expect(allowed.stdout.replaceAll(/\s+/g, ' ')).toContain('allowed by Ana Ruiz (command) at ');
    expect(await approval).toMatchObject({ decision: 'accept', reason: 'go', value: { by: 'Ana Ruiz' } });
    expect((await run(['inbox', 'answer', second, '--text', 'db-2', '--json'])).code).toBe(0);
    await expect.poll(() => said, { timeout: 5000 }).toEqual([{ ok: true, value: 'db-2' }]);
    const late = await run(['inbox', 'answer', first, '--deny', '--by', 'Ben']);
    expect(late.code).toBe(1);
    expect(late.stderr).toContain('Ana Ruiz');
    await gateway.store?.flush();
    const events = await gateway.store?.read({ category: 'question', limit: 10 });
    expect(events?.filter(({ type }) => type === 'answered')).toMatchObject([
      { metadata: { by: 'Ana Ruiz', way: 'command' } },
      { metadata: { way: 'command' } },
    ]);
    expect(JSON.stringify(events)).not.toContain('db-2');
    expect((await run(['inbox'])).stdout).toBe('Nobody asks a person.\n');
  });

  it('[G-17] refuses what is no answer: wrong usage exits 2, an answer that does not count 1', async () => {
    const { run, first, second } = await startAsking();
    for (const words of [
      ['inbox', '--allow'],
      ['inbox', 'answer', first],
      ['inbox', 'answer'],
      ['inbox', 'answer', first, '--allow', '--deny'],
      ['inbox', 'answer', first, '--value', '{'],
      ['inbox', 'ask', first],
    ]) {
      expect([words, (await run(words)).code]).toEqual([words, 2]);
    }
    expect((await run(['inbox', 'answer', 'beef', '--allow'])).code).toBe(1);
    expect(await run(['inbox', 'answer', second, '--allow'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('takes a text') as string,
    });
    const tooLate = await run(['inbox', 'answer', first, '--allow'], 20 * 60_000);
    expect(tooLate).toMatchObject({ code: 1, stderr: expect.stringContaining('nobody answered until') as string });
  });

  it('[G-17] folds and cuts what is asked and its data: no line is wider than the terminal', async () => {
    const { gateway, run } = await startAsking();
    const [action, payload] = [`see ${'x'.repeat(300)}`, { command: 'y'.repeat(900) }];
    void gateway.approval('wide')({ action: `${action} ${'word '.repeat(200)}`, payload });
    await expect.poll(() => gateway.inbox?.open()).toHaveLength(3);
    for (const verb of ['inbox', 'status']) {
      const lines = (await run([verb])).stdout.split('\n').filter((line) => !/unwedge inbox|sqlite/.test(line));
      expect([verb, Math.max(...lines.map((line) => line.length))]).toEqual([verb, expect.toSatisfy((n) => n <= 60)]);
      expect(lines.length).toBeLessThan(30);
    }
  });

  it('[G-17] keeps and tells the reason and the name without secrets, and gives the answer as it was given', async () => {
    const { gateway, run, said, second } = await startAsking();
    const planted = `ghp_${'a1B2'.repeat(9)}`;
    const words = ['inbox', 'answer', second, '--text', planted, '--reason', `by ${planted}`, '--by', `Ana ${planted}`];
    expect((await run(words)).stdout).not.toContain(planted);
    await expect.poll(() => said, { timeout: 5000 }).toEqual([{ ok: true, value: planted }]);
    await gateway.store?.flush();
    expect(JSON.stringify(await gateway.store?.read({ category: 'question', limit: 10 }))).not.toContain(planted);
    const late = await run(['inbox', 'answer', second, '--deny']);
    expect(late.stderr).toContain('by Ana');
    expect(late.stderr).not.toContain(planted);
    const third = gateway.approval('more')({ action: 'x' });
    await expect.poll(() => gateway.inbox?.open()).toHaveLength(2);
    const { id = '' } = (await gateway.inbox?.open())?.[1] ?? {};
    await gateway.inbox?.answer(id, { decision: 'accept', reason: `for ${planted}`, way: 'code' });
    expect(JSON.stringify(await third)).not.toContain(planted);
  });

  it('[G-17] names the choices, and the option for them, where yes is no answer', async () => {
    const { gateway, run } = await startAsking();
    const options = [{ id: 'allow_once', name: 'Allow once' }, { id: 'no' }];
    void gateway.approval('agent')({ action: 'write', form: { is: 'choice', options } });
    await expect.poll(() => gateway.inbox?.open()).toHaveLength(3);
    const { id = '' } = (await gateway.inbox?.open())?.[2] ?? {};
    expect((await run(['inbox'])).stdout).toContain('one of allow_once (Allow once), no');
    const { code, stderr } = await run(['inbox', 'answer', id, '--allow']);
    expect([code, stderr]).toEqual([
      1,
      `unwedge: The question ${id} takes one of allow_once (Allow once), no, or to be declined. Answer it with --text or --value.\n`,
    ]);
    expect((await run(['inbox', 'answer', '', '--allow'])).stderr).toContain('No question');
    expect((await run(['inbox', 'answer', id, '--text', 'allow_once'])).code).toBe(0);
  });

  it('[G-17] status leads with how many wait and since when, and why names the question', async () => {
    const { run, second } = await startAsking();
    const { stdout } = await run(['status'], 4 * 60_000);
    const lines = stdout.replaceAll(/\s+/g, ' ');
    expect(lines).toMatch(/2 questions to people wait, the oldest 4(?:\.\d)?m/);
    const data = JSON.parse((await run(['status', '--json'])).stdout) as {
      attention: { what: string; next: string }[];
      needs: { kind: string; name: string }[];
      health: string;
    };
    expect(data.attention[0]).toMatchObject({ what: expect.stringContaining('2 questions to people') as string });
    expect(data.attention[0]?.next).toContain('unwedge inbox');
    expect(data.needs.filter(({ kind }) => kind === 'question').map(({ name }) => name)).toEqual(['deploys', 's1']);
    const why = await run(['why', 's1']);
    expect(why.stdout.replaceAll(/\s+/g, ' ')).toContain(`unwedge inbox answer ${second.slice(0, 8)}`);
  });
});
