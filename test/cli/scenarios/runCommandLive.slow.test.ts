import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allGone } from '../../actors/process/startProcess.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { main, type Place, type Run, startPlace } from '../startRun.ts';

/** A command of unwedge on the database of a place, as its user types it. */
function unwedge({ directory, db }: Place, ...words: readonly string[]): string {
  const env = { PATH: process.env['PATH'], HOME: directory, TMPDIR: directory, UNWEDGE_DB: db };
  return execFileSync(process.execPath, [main, ...words], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

const sockets = ({ directory }: Place): readonly string[] => {
  const where = join(directory, `unwedge-${process.getuid?.()}`);
  return existsSync(where) ? readdirSync(where).map((name) => join(where, name)) : [];
};

/** A run that has lasted. */
async function startLasting(place: Place): Promise<Run> {
  const run = place.start(['--name', 'nightly', '--', 'sh', '-c', 'echo $$; exec sleep 1000']);
  await expect.poll(() => sockets(place)).toEqual([expect.stringMatching(/\.sock$/)]);
  // The socket is there before the row by which others find it.
  await expect.poll(() => unwedge(place, 'status')).toContain('Live: unwedge run nightly');
  return run;
}

describe.skipIf(!hasSqlite || process.platform !== 'linux')('a run that lasts', () => {
  it('[L-4] [L-5] is shown by `status` with its call in flight, on a socket of its user alone', async () => {
    const place = startPlace();
    const run = await startLasting(place);
    const shown = new RegExp(`^Live: unwedge run nightly \\(pid ${run.pid}, started [^]*^nightly +closed +1 +0 `, 'm');
    await expect.poll(() => unwedge(place, 'status')).toMatch(shown);
    expect(sockets(place).map((path) => statSync(path).mode & 0o777)).toEqual([0o600]);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)('[I-3] takes its socket and its row with it at %s', async (signal) => {
    const place = startPlace();
    const run = await startLasting(place);
    run.child.kill(signal);
    await run.ended;
    expect(sockets(place)).toEqual([]);
    expect(unwedge(place, 'status')).not.toMatch(/Live:|is gone/);
  });

  it('[I-3] takes both with it at a second signal, which ends it at once', async () => {
    const place = startPlace();
    const stubborn = "trap '' TERM HUP; echo $$; while :; do sleep 1; done";
    const run = place.start(['--name', 'nightly', '--', 'sh', '-c', stubborn]);
    const [pid] = await run.seen(/\d+/);
    await expect.poll(() => sockets(place)).toHaveLength(1);
    // Two of one kind may come as one.
    run.child.kill('SIGHUP');
    run.child.kill('SIGTERM');
    await run.ended;
    expect(sockets(place)).toEqual([]);
    expect(unwedge(place, 'status')).not.toContain('is gone');
    await allGone(Number(pid));
  });

  it('[I-4] [O-10] that is killed is gone in `status`, and its end is on record once another has run', async () => {
    const place = startPlace();
    const run = await startLasting(place);
    const [pid] = await run.seen(/\d+/);
    run.child.kill('SIGKILL');
    await run.ended;
    await allGone(Number(pid));
    expect(unwedge(place, 'status')).toContain(`unwedge run nightly (pid ${run.pid}) is gone`);
    await place.run(['--name', 'other', '--', 'true']);
    await place.run(['--name', 'other', '--', 'true']);
    const events: unknown = JSON.parse(unwedge(place, 'events', '--integration', 'nightly', '--json'));
    expect(events).toMatchObject([
      {
        metadata: {
          integration: 'nightly',
          kind: 'crash',
          error: expect.stringContaining(`(pid ${run.pid}) ended`) as string,
        },
      },
    ]);
    expect(unwedge(place, 'report')).toMatch(/^nightly +1 .*crash 1/m);
    expect(unwedge(place, 'status')).not.toContain('is gone');
  });
});
