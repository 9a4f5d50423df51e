import { describe, expect, it } from 'vitest';
import { deferred } from '../../../support/deferred.ts';
import { nextTurn, startProcess } from '../startProcess.ts';

describe('a process whose output is taken slowly', () => {
  it('[S-7] is not read while its listener is busy', async () => {
    const { promise, resolve } = deferred<void>();
    let heard = 0;
    const { done } = startProcess('flood', ['3'], {
      onOutput(chunk) {
        heard += chunk.length;
        return promise;
      },
    });
    while (heard === 0) await nextTurn();
    for (let turn = 0; turn < 100; turn++) await nextTurn();
    expect(heard).toBeLessThanOrEqual(65_536);
    resolve();
    expect((await done).stdout.bytes).toBe(heard);
    expect(heard).toBe(3 * 1024 * 1024 + 'first\nlast\n'.length);
  });

  it('[S-7] is heard to its end, also what it left in the pipe', async () => {
    let heard = '';
    const { done } = startProcess('', [], {
      command: 'sh',
      args: ['-c', 'echo one; echo two >&2; head -c 60000 /dev/zero; echo three'],
      onOutput(chunk) {
        heard += Buffer.from(chunk).toString().replaceAll('\0', '');
        return new Promise(() => undefined);
      },
    });
    expect(await done).toMatchObject({ reason: 'exit', exitCode: 0 });
    expect(heard).toContain('three');
  });
});

describe('a process that is told to end', () => {
  it('[S-3] gets the signal that was asked for', async () => {
    const text = `process.on('SIGINT', () => process.exit(3)); setInterval(() => {}, 1e6); console.log('ready')`;
    const { actor, done, firstLine } = startProcess('', [], { args: ['-e', text] });
    await firstLine;
    actor.send({ type: 'process.kill', signal: 'SIGINT' });
    expect(await done).toMatchObject({ reason: 'cancelled', exitCode: 3 });
  });
});
