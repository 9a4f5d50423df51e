import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { listProcessesNow, readProcessNow } from '../../src/actors/process/processTable.ts';

/** A directory of the test's own, gone when the test is. */
export function temporaryDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'unwedge-test-'));
  onTestFinished(() => {
    rmSync(path, { recursive: true, force: true });
  });
  return path;
}

/** The lines of a file that are complete: another process may be writing to it. None while there is no file. */
export function wholeLines(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
}

/** Whether a process of this id is alive; one that has ended and waits for its parent is not. */
export function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  const entry =
    process.platform === 'linux' ? readProcessNow(pid) : listProcessesNow().find((each) => each.pid === pid);
  return entry?.zombie === false;
}
