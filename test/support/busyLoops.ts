import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, beforeAll } from 'vitest';

/** Ends with its parent, however that ends. */
const program = 'for (const parent = process.ppid; process.ppid === parent;) for (let n = 0; n < 1e8; n++);';

/** Keeps processors busy with so many processes while the tests of a `describe` run: with more than there are, every process waits for its turn. */
export function besideBusyLoops(count: number): void {
  const loops: ChildProcess[] = [];
  beforeAll(() => {
    while (loops.length < count) loops.push(spawn(process.execPath, ['-e', program], { stdio: 'ignore' }));
  });
  afterAll(() => {
    for (const loop of loops.splice(0)) loop.kill('SIGKILL');
  });
}
