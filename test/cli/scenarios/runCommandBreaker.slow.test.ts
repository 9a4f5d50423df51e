import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { type Place, type RanRun, startPlace } from '../startRun.ts';

const unavailable = ['--name', 'api', '--', 'sh', '-c', 'echo HTTP 503 >&2; exit 1'];
const plain = ['--name', 'api', '--', 'sh', '-c', 'echo no such thing >&2; exit 1'];
const fine = ['--name', 'api', '--', 'true'];
/** Says that it runs, and ends well when its stdin does. */
const waits = ['--name', 'api', '--', 'sh', '-c', 'echo running; cat >/dev/null'];

async function runAll(place: Place, ...runs: readonly string[][]): Promise<(number | null)[]> {
  const codes = [];
  for (const words of runs) codes.push((await place.run(words)).code);
  return codes;
}

/** A circuit that opened, and whose time is over. */
async function dueCircuit(): Promise<Place> {
  const place = startPlace();
  await runAll(place, ...Array.from({ length: 5 }, () => unavailable));
  place.makeDue();
  return place;
}

describe.skipIf(!hasSqlite)('the circuit of runs that follow each other', () => {
  it('[M-8] [L-4] refuses the sixth after five that found nobody there, with the time of the next probe', async () => {
    const place = startPlace();
    expect(await runAll(place, unavailable, unavailable, unavailable, unavailable, unavailable)).toEqual([
      1, 1, 1, 1, 1,
    ]);
    const { code, stderr } = await place.run(fine);
    expect(code).toBe(75);
    expect(stderr).toMatch(
      /^unwedge: api failed 5 times in a row \(last: [^\n]+\), it is not run before [^\n]*\d\d:\d\d:\d\d; the command was not run\n$/,
    );
    expect((await place.run(['--name', 'other', '--', 'true'])).code).toBe(0);
  });

  it('[L-4] takes an exit code of the command for an answer', async () => {
    const place = startPlace();
    await runAll(place, unavailable, unavailable, unavailable, unavailable, plain);
    expect(place.breaker('api')).toMatchObject({ state: 'closed', failures: 0 });
    await runAll(place, unavailable, fine);
    expect(place.breaker('api')).toMatchObject({ state: 'closed', failures: 0 });
  });

  it.each([
    ['that crashes', ['sh', '-c', 'kill -SEGV $$']],
    ['that is not there', ['nosuch-command']],
    ['that hangs', ['sleep', '1000']],
  ])('[L-4] counts a command %s', async (_, command) => {
    const place = startPlace();
    await place.run(['--name', 'api', '--timeout', '300ms', '--', ...command]);
    expect(place.breaker('api')).toMatchObject({ failures: 1 });
  });

  it('[M-8] counts those that run at the same time', async () => {
    const place = startPlace();
    await Promise.all(Array.from({ length: 4 }, () => place.run(unavailable)));
    expect(place.breaker('api')).toMatchObject({ state: 'closed', failures: 4 });
  });

  it('[M-3] [M-8] lets one of two that come at once probe, and closes when that ends well', async () => {
    const place = await dueCircuit();
    const runs = [place.start(waits), place.start(waits)];
    const refused = await Promise.race(runs.map(({ ended }) => ended));
    expect(refused.code).toBe(75);
    const probe = await Promise.any(runs.map(async (run) => (await run.seen(/running/), run)));
    probe.child.stdin.end();
    expect((await probe.ended).code).toBe(0);
    expect(place.breaker('api')).toMatchObject({ state: 'closed', failures: 0, lease_owner: null });
  });

  it('[M-3] opens again when the probe fails', async () => {
    const place = await dueCircuit();
    expect(await runAll(place, unavailable, fine)).toEqual([1, 75]);
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)(
    '[M-3] [M-8] lets the next run probe after %s ended the one before',
    async (signal) => {
      const place = await dueCircuit();
      const probe = place.start(waits);
      await probe.seen(/running/);
      expect((await place.run(fine)).code).toBe(75);
      probe.child.kill(signal);
      await probe.ended;
      expect((await place.run(fine)).code).toBe(0);
    },
  );

  it('[L-4] [R-5] says that it is limited, and until when, with the code of the command', async () => {
    const { code, stderr }: RanRun = await startPlace().run([
      '--',
      'sh',
      '-c',
      'echo "HTTP 429, retry after 30 seconds" >&2; exit 1',
    ]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/\nunwedge: rate_limit: [^\n]+; try again in 30s\n$/);
  });

  it('[O-10] counts every run, however short: one that crashes and four that go well are 80 %', async () => {
    const place = startPlace();
    await runAll(place, ['--name', 'api', '--', 'sh', '-c', 'kill -SEGV $$'], fine, fine, fine, fine);
    const rows = openDatabase(place.db).prepare('SELECT figures FROM unwedge_statistics WHERE minute >= 0').all();
    const figures = rows.map((row) => JSON.parse(String(row['figures'])) as { succeeded: number; failed: object });
    expect(figures.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(4);
    expect(Object.assign({}, ...figures.map(({ failed }) => failed))).toEqual({ crash: 1 });
  });

  it('[O-10] counts a run that is the first of all, in directories that are not there yet', async () => {
    const place = startPlace();
    const db = join(place.directory, 'state', 'unwedge', 'runs.sqlite');
    await place.run(['--db', db, '--', 'true']);
    expect(
      openDatabase(db).prepare('SELECT count(*) AS count FROM unwedge_statistics WHERE minute >= 0').get(),
    ).toEqual({ count: 1 });
  });

  it('[I-4] records the failure of a run, and nothing of one that went well', async () => {
    const place = startPlace();
    await runAll(place, unavailable, fine);
    // A machine that is busy is on record too, as a runtime that stood still.
    const rows = openDatabase(place.db)
      .prepare(`SELECT category || '/' || event_type AS event FROM events WHERE category <> 'runtime'`)
      .all();
    expect(rows).toEqual([{ event: 'process/exited' }, { event: 'integration/failure' }]);
  });
});
