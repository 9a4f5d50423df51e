import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../src/gateway/gateway.ts';
import type { Incident } from '../../incident/incident.ts';
import { AttemptError } from '../../src/policy/failures/failure.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import { replayIncident } from '../../testing/replayIncident.ts';
import { hasSqlite, temporaryDirectory } from '../store/startStore.ts';
import { call } from './startCli.ts';

const secret = 'hunter2-planted-secret';

/** A database of a gateway whose calls passed their limit, were retried, opened the circuit and were refused. */
async function databaseOfTrouble(): Promise<string> {
  const db = join(temporaryDirectory(), 'gateway.sqlite');
  // What fails while a busy machine lets this process stand still opens no circuit.
  const clock = { ...systemClock, stalls: undefined };
  const gateway = createGateway({ store: db, alerts: false, childGuard: false, clock });
  const policy = {
    retry: { maxAttempts: 2, backoff: { initialMs: 5, maxMs: 10 } },
    limits: { attemptMs: 30, idleMs: 30, overallMs: 5000 },
    breaker: { consecutiveFailures: 4 },
  };
  const kb = gateway.integration('kb', { policy, effect: 'readOnly' }, (input: string) => {
    if (input === 'ok') return 'answer';
    if (input === 'hang') return new Promise<string>(() => undefined);
    throw new AttemptError({
      kind: 'transient',
      message: `refused, Authorization: Bearer ${secret}`,
      outcome: 'failed',
    });
  });
  await gateway.start();
  for (const input of ['ok', 'hang', 'fail', 'ok', 'ok']) await kb.call(input, { label: `token=${secret}` });
  await gateway.stop();
  return db;
}

describe.skipIf(!hasSqlite)('unwedge incident and unwedge replay', () => {
  it('[O-16] takes what happened home, where it is played with the same end', async () => {
    const db = await databaseOfTrouble();
    const folder = join(temporaryDirectory(), 'taken');
    const taken = await call(['incident', 'kb-2', '--out', folder, '--db', db]);
    expect(taken).toMatchObject({ code: 0 });
    expect(taken.stdout).toContain('The call kb-2');
    const moved = join(temporaryDirectory(), 'moved');
    renameSync(folder, moved);
    for (const name of readdirSync(moved)) expect(readFileSync(join(moved, name), 'utf8')).not.toContain(secret);
    const played = await call(['replay', moved, '--all']);
    expect(played).toMatchObject({ code: 0 });
    expect(played.stdout).toMatch(/kb-2 +failed: timeout, 2 attempts +the same/);
    expect(played.stdout).toMatch(/circuit of kb +opened: transient +the same/);
    expect(played.stdout).toMatch(/kb-5 +refused: circuit_open, 0 attempts +the same/);
    expect(played.stdout).toContain('Same end');
    expect(await replayIncident(moved)).toMatchObject({ isSame: true, subject: { kind: 'call', id: 'kb-2' } });
  });

  it('[O-16] [L-6] is told in lines that fit the terminal, but for what is copied', async () => {
    const db = await databaseOfTrouble();
    const folder = join(temporaryDirectory(), 'taken');
    const terminal = { isTTY: true, columns: 60, env: { NO_COLOR: '1' } };
    const taken = await call(['incident', 'kb', '--out', folder, '--db', db], terminal);
    const played = await call(['replay', folder, '--policy', 'retry.maxAttempts=1'], terminal);
    const long = `${taken.stdout}${played.stdout}`
      .split('\n')
      .filter((line) => line.length > 60 && !line.includes(folder));
    expect(long).toEqual([]);
    expect(taken.stdout).toContain(`\n  unwedge replay ${folder}\n`);
  });

  it('[O-16] takes a call as `unwedge events` shows it', async () => {
    const db = await databaseOfTrouble();
    const { stdout } = await call(['events', '--failed', '--db', db]);
    const id = /; call (\S+?)[;)]/.exec(stdout)?.[1] ?? '';
    const out = join(temporaryDirectory(), 'incident');
    const taken = await call(['incident', id, '--out', out, '--json', '--db', db]);
    expect(JSON.parse(taken.stdout)).toMatchObject({ subject: { kind: 'call', id: 'kb-2' } });
  });

  it('[O-16] says where another end comes from: of a changed record, or of another policy', async () => {
    const db = await databaseOfTrouble();
    const folder = join(temporaryDirectory(), 'taken');
    await call(['incident', 'kb', '--out', folder, '--db', db]);
    const other = await call(['replay', folder, '--policy', 'retry.maxAttempts=1', '--json']);
    expect(other.code).toBe(1);
    expect(JSON.parse(other.stdout)).toMatchObject({
      isSame: false,
      first: {
        of: 'kb-2',
        recorded: { what: 'failed: timeout, 2 attempts' },
        replayed: { what: 'failed: timeout, 1 attempt' },
      },
    });
    const file = join(folder, 'incident.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"call":1,"attempt":1', '"call":1,"attempt":3'));
    const changed = await call(['replay', folder]);
    expect(changed.code).toBe(1);
    expect(changed.stdout).toContain('kb-1: recorded answered, 3 attempts, replayed answered, 1 attempt');
  });

  it('[O-16] says by how much a change came at another time', async () => {
    const db = await databaseOfTrouble();
    const folder = join(temporaryDirectory(), 'taken');
    await call(['incident', 'kb', '--out', folder, '--db', db]);
    const file = join(folder, 'events.jsonl');
    const later = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { at: number; type: string })
      .map((event) => JSON.stringify(event.type === 'opened' ? { ...event, at: event.at + 500 } : event));
    writeFileSync(file, later.join('\n'));
    const kept = join(folder, 'incident.json');
    const incident = JSON.parse(readFileSync(kept, 'utf8')) as Incident;
    const integrations = incident.integrations.map((each) => ({
      ...each,
      records: each.records.map((record) => ({ ...record, at: record.at + 1000 })),
    }));
    writeFileSync(kept, JSON.stringify({ ...incident, integrations }));
    const played = await call(['replay', folder]);
    expect(played.code).toBe(1);
    expect(played.stdout).toMatch(/^ *\S+ +circuit of kb +opened: transient +opened: transient, \d+ms earlier$/m);
    expect(played.stdout).toMatch(/recorded opened: transient, replayed opened: transient, \d+ms earlier$/m);
  });

  it('[O-16] is a test of one’s own, as the page shows it', async () => {
    const db = await databaseOfTrouble();
    const folder = join(temporaryDirectory(), 'taken');
    await call(['incident', 'kb', '--out', folder, '--db', db]);
    const page = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8');
    const [shown = ''] = /(?<=^```ts\n)import assert[^`]*`[^`]*`[^`]*`[^`]*`[^`]*(?=^```)/m.exec(page) ?? [];
    const build = fileURLToPath(new URL('../../.build', import.meta.url));
    mkdirSync(build, { recursive: true });
    const program = join(build, `incident-${crypto.randomUUID()}.mjs`);
    onTestFinished(() => rmSync(program, { force: true }));
    writeFileSync(program, shown.replace('test/incidents/kb-12', folder));
    expect((await execa(process.execPath, [program])).stdout).toBe('6 calls and changes ended as they did');
  });

  it('[O-16] [L-1] refuses what it cannot do by name', async () => {
    const db = await databaseOfTrouble();
    expect(await call(['incident', 'kbb', '--db', db])).toMatchObject({ code: 1 });
    expect((await call(['incident', 'kbb', '--db', db])).stderr).toContain('Did you mean "kb"?');
    expect((await call(['replay', join(temporaryDirectory(), 'none')])).stderr).toContain('There is nothing at');
    const folder = join(temporaryDirectory(), 'taken');
    await call(['incident', 'kb', '--out', folder, '--db', db]);
    expect((await call(['incident', 'kb', '--out', folder, '--db', db])).stderr).toContain('is not empty');
    expect(await call(['replay', folder, '--policy', 'retry.maxAttempts=0'])).toMatchObject({ code: 2 });
    expect(await call(['replay', folder, '--policy', 'nonsense'])).toMatchObject({ code: 2 });
    expect((await call(['replay', folder, '--policy', 'retri.maxAttempts=5'])).stderr).toContain(
      '`kb.policy.retri`; did you mean retry?',
    );
    expect(await call(['incident', 'kb', '--around', '0s', '--db', db])).toMatchObject({ code: 2 });
  });
});
