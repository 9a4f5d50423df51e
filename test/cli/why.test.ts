import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { whyText } from '../../src/cli/whyText.ts';
import { failed, hasSqlite } from '../store/startStore.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { databaseWith, runBuilt } from './startCli.ts';

const program = fileURLToPath(new URL('../fixtures/keptGateway.mjs', import.meta.url));

/** A gateway whose session has one call under way and one message waiting. */
async function startBusy() {
  const home = temporaryDirectory();
  const db = join(home, 'gateway.sqlite');
  const child = spawn(process.execPath, [program, db, 'control'], {
    env: { ...process.env, XDG_RUNTIME_DIR: home },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  child.stdin.write('1\n2\n');
  const wanted = new Set(['calling 1', 'accepted 2 true']);
  for await (const line of createInterface({ input: child.stdout })) {
    wanted.delete(line);
    if (wanted.size === 0) break;
  }
  return { db, env: { XDG_RUNTIME_DIR: home }, child, exited };
}

describe.skipIf(!hasSqlite)('unwedge why', () => {
  it('[L-5] [G-6] says what a live session waits for, and which rule ends it', async () => {
    const { db, env } = await startBusy();
    const { code, stdout, stderr } = await runBuilt(['why', 'agent:main', '--db', db], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^agent:main processes agent:main-m1 \(user\) for \S+; 1 message waits\.\n/);
    expect(stdout).toMatch(
      /kb query \(agent:main-1-1\) for \S+: attempt 1 of 3 in flight, silent for \S+; idle_timeout in \S+\n/,
    );
    expect(stdout).toMatch(/Next: idle_timeout ends the attempt of query in \S+\.\n$/);
  });

  it('[L-2] gives the same as data', async () => {
    const { db, env } = await startBusy();
    const { stdout } = await runBuilt(['why', 'agent:main', '--json', '--db', db], env);
    expect(JSON.parse(stdout)).toMatchObject({
      live: true,
      session: 'agent:main',
      calls: [{ tool: 'query', progress: { phase: 'in_flight', attempt: 1 } }],
      next: { rule: 'idle_timeout' },
    });
  });

  it('[L-5] reads the records without a live gateway, and says what it cannot show', async () => {
    const { db, env, child, exited } = await startBusy();
    child.kill('SIGKILL');
    await exited;
    const { code, stdout, stderr } = await runBuilt(['why', 'agent:main', '--db', db], env);
    expect(code).toBe(0);
    expect(stdout).toMatch(/message agent:main-m1 \(user\) is taken, begun 1 time, accepted /);
    expect(stdout).toMatch(/message agent:main-m2 \(user\) is waiting, accepted /);
    expect(stdout).toMatch(/call agent:main-1-1: kb query pending, started .*; the next start answers it as unknown: /);
    expect(stderr).toContain('attempts, processes and circuits cannot be shown');
  });

  it('[L-5] names the nearest session for dead letters too', async () => {
    const { db, env } = await startBusy();
    const { code, stderr } = await runBuilt(['letters', 'agent:mian', '--db', db], env);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('Did you mean "agent:main"?') as string,
    });
    expect(await runBuilt(['letters', 'agent:main', '--db', db], env)).toMatchObject({ code: 0 });
  });

  it('names the nearest session when there is none of the id', async () => {
    const { db, env } = await startBusy();
    const { code, stderr } = await runBuilt(['why', 'agent:mian', '--db', db], env);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Did you mean "agent:main"?')]);
  });

  it('[L-5] says of an integration where it is shown, live and on record', async () => {
    const { db, env, child, exited } = await startBusy();
    const live = await runBuilt(['why', 'kb', '--db', db], env);
    expect([live.code, live.stderr]).toEqual([
      1,
      'unwedge: "kb" is an integration and no session: see `unwedge status` and `unwedge events --integration kb`.\n',
    ]);
    child.kill('SIGKILL');
    await exited;
    const recorded = await runBuilt([
      'why',
      'search',
      '--db',
      await databaseWith(failed(1, { at: Date.now(), integration: 'search' })),
    ]);
    expect(recorded.stderr).toContain('"search" is an integration');
  });
});

describe('the words for a session that waits', () => {
  it('[L-5] name circuit, process, last failure and question, without control characters', () => {
    const text = whyText({
      session: 'agent:main',
      state: 'processing',
      waiting: 2,
      heldElsewhere: false,
      turn: { turn: 4, message: 'agent:main-m9', kind: 'user', delivery: 2, sinceMs: 130_000 },
      calls: [
        {
          call: 'agent:main-4-1',
          integration: 'kb',
          tool: 'query',
          sinceMs: 120_000,
          progress: {
            phase: 'backoff',
            attempt: 1,
            maxAttempts: 3,
            next: { id: '1:backoff', rule: 'next_attempt', inMs: 60 },
            lastFailure: { kind: 'transient', message: 'HTTP 503' },
          },
          target: {
            state: 'backoff',
            circuit: 'open',
            probeInMs: 5000,
            process: { pid: 4711, lastLine: 'warming\u001b[31m up' },
          },
        },
      ],
      questions: [{ question: 'turn-4:question-1', what: 'delete?', sinceMs: 1000, deadlineInMs: 29_000 }],
      rules: [],
      next: { id: 'turn-4:question-1', rule: 'question', inMs: 29_000, what: 'delete?' },
    });
    expect(text).toMatchInlineSnapshot(`
      "agent:main processes agent:main-m9 (user) for 2m10s, begun for the 2. time; 2 messages wait.
        kb query (agent:main-4-1) for 2m: waits for its next attempt, after attempt 1 of 3; tried again in 60ms
          last attempt: transient: HTTP 503
          kb is backoff, circuit open, probe in 5s
          process 4711 said last: warming up
        asks a person for 1s: delete?; given up in 29s
      Next: nobody is waited for any more to answer delete? in 29s.
      "
    `);
    expect(text).not.toContain('\u001b');
  });
});
