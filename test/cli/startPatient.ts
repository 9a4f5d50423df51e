import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { openDatabase, startStore } from '../store/startStore.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { main } from './startRun.ts';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Finding {
  readonly id: string;
  readonly status: string;
  readonly summary: string;
  readonly fix: string | null;
  readonly next?: string;
}

interface Examined {
  readonly code: number | null;
  readonly text: string;
  readonly findings: readonly Finding[];
  /** What is wrong. */
  readonly troubles: readonly string[];
  find(id: string): Finding | undefined;
}

/** A home of its own, where nothing is wrong: the built unwedge is on PATH. */
export function startPatient() {
  const home = temporaryDirectory();
  const bin = join(home, 'bin');
  const tmp = join(home, 'tmp');
  const db = join(home, '.local', 'state', 'unwedge', 'unwedge.sqlite');
  for (const directory of [bin, tmp, join(home, 'work')]) mkdirSync(directory);
  const program = join(bin, 'unwedge');
  symlinkSync(main, program);
  symlinkSync(process.execPath, join(bin, 'node'));
  const usual = { HOME: home, PATH: `${bin}:/usr/bin:/bin`, TMPDIR: tmp, XDG_RUNTIME_DIR: join(home, 'run') };
  const options = { cwd: join(home, 'work'), encoding: 'utf8' } as const;
  const doctor = (words: readonly string[] = [], env: Record<string, string> = {}, script = main): Examined => {
    const run = (...more: string[]) =>
      spawnSync(process.execPath, [script, 'doctor', ...words, ...more], { ...options, env: { ...usual, ...env } });
    const { status, stdout, stderr } = run('--json');
    if (stdout === '') throw new Error(stderr);
    const told = (JSON.parse(stdout) as { findings: Finding[] }).findings;
    // The directory of sockets of this user is where other tests may have killed something.
    const findings = told.filter(({ id, fix }) => id !== 'socket.stale' || fix?.includes(home) === true);
    return {
      code: status,
      get text() {
        return run().stdout;
      },
      findings,
      troubles: findings.filter((each) => each.status !== 'ok').map(({ id }) => id),
      find: (id) => findings.find((each) => each.id === id),
    };
  };
  /** Pastes a fix into a shell. */
  const paste = (fix: string | null | undefined) =>
    spawnSync('/bin/sh', ['-c', fix ?? 'false'], { ...options, env: usual });
  return { home, bin, tmp, db, usual, doctor, paste };
}

/** The same with a database, in which an event happened just now. */
export async function startRecorded() {
  const patient = startPatient();
  mkdirSync(join(patient.home, '.local', 'state', 'unwedge'), { recursive: true, mode: 0o700 });
  const { store } = await startStore({ path: patient.db });
  await store.close();
  return { ...patient, database: () => openDatabase(patient.db) };
}

/** A program that runs until the test is over. */
export function startSleeper(): number {
  const child = spawn('/bin/sleep', ['1000'], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child.pid ?? 0;
}
