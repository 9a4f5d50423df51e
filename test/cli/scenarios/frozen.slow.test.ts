import { describe, expect, it } from 'vitest';
import { hasSqlite } from '../../store/startStore.ts';
import { type KeptGateway, startKept } from '../startKept.ts';

/** A gateway with a call under way and a message that waits, stopped by SIGSTOP. A command waits 2 s for its answer: those of one test run at once. */
async function startFrozen(): Promise<KeptGateway> {
  const kept = await startKept();
  kept.child.kill('SIGSTOP');
  return kept;
}

describe.skipIf(!hasSqlite || process.platform !== 'linux')('a gateway that is stopped by a signal', () => {
  it('[L-5] [L-6] is named by its pid, with the way out, before what is on record', async () => {
    const { pid, run } = await startFrozen();
    const { code, stdout, stderr } = await run('status');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(
      new RegExp(
        `^! pid ${pid} \\(\\S+\\) does not answer: it is stopped \\(its socket does not answer for 2s\\); \`kill -CONT ${pid}\``,
      ),
    );
    expect(stdout).toContain(`pid ${pid} runs and does not answer; what follows is from the database`);
    expect(stdout).toContain('session agent:main has on record 1 call without a result (kb query, for ');
    expect(stdout).toMatch(new RegExp(`\nnext: kill -CONT ${pid}\n$`));
    expect(stdout).not.toContain('No gateway runs');
  });

  it('[L-5] is explained as far as the database knows, with the limits of its calls', async () => {
    const { pid, run } = await startFrozen();
    const [{ stdout }, { stdout: json }] = await Promise.all([
      run('why', 'agent:main'),
      run('why', 'agent:main', '--json'),
    ]);
    expect(stdout).toMatch(new RegExp(`^pid ${pid} \\(\\S+\\) does not answer: it is stopped .*kill -CONT ${pid}`));
    expect(stdout).toContain('What follows is from the database.');
    expect(stdout).toMatch(/call agent:main-1-1: kb query pending, started .*, due in .* by the watchdog/);
    expect(stdout).toMatch(/the policy of kb: idle limit \S+, attempt limit /);
    expect(JSON.parse(json)).toMatchObject({ live: false, frozen: [{ pid, frozen: 'stopped' }] });
  });

  it('[L-5] leads what is on record, which it may not have written', async () => {
    const { pid, run } = await startFrozen();
    for (const { code, stdout, stderr } of await Promise.all([run('alerts'), run('letters')])) {
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toMatch(new RegExp(`^! pid ${pid} \\(\\S+\\) does not answer: it is stopped `));
      expect(stdout).toContain(`\n  next: kill -CONT ${pid}\n\nNo `);
    }
  });

  it('[O-13] is named by every order that it does not hear', async () => {
    const { pid, run } = await startFrozen();
    const orders = [
      ['cancel', 'agent:main'],
      ['probe', 'kb'],
      ['restart', 'kb'],
      ['why', 'agent:main', '--fire'],
    ];
    const ran = await Promise.all(orders.map(async (words) => ({ words, ...(await run(...words)) })));
    for (const { words, code, stderr } of ran) {
      expect([words, code]).toEqual([words, 1]);
      expect(stderr).toContain(`(pid ${pid}`);
      expect(stderr).toContain(`\`kill -CONT ${pid}\` has it go on`);
    }
  });

  it('[L-5] answers again once it goes on', async () => {
    const { child, run } = await startFrozen();
    child.kill('SIGCONT');
    const { stdout } = await run('cancel', 'agent:main', '--reason', 'mended');
    expect(stdout).toBe('Turn 1 of session agent:main was told to end; the session goes on.\n');
  });
});
