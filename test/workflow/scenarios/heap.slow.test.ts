import { expect, it } from 'vitest';
import { runFresh } from '../../support/freshProcess.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** Runs a workflow over and over, in which an item fails, one is skipped and a backend takes over, and prints what the heap keeps of it. */
const program = (store: string) => `
  import { text } from 'node:stream/consumers';
  import { setImmediate } from 'node:timers/promises';
  import { getHeapSnapshot } from 'node:v8';
  import { createGateway } from 'unwedge';
  import { workflowKind } from 'unwedge/workflow';
  const items = [{ id: 'a', action: 'do a' }, { id: 'b', action: 'do b' }, { id: 'c', action: 'do c', dependencies: ['b'] }];
  const refuse = (status) => { throw Object.assign(new Error('no'), { status }); };
  const plan = () => ({ success: true, items });
  const gateway = createGateway({ kinds: [workflowKind], store: ${JSON.stringify(store)} });
  const workflow = gateway.workflow('heap', {
    backends: [
      { name: 'one', plan, item: ({ id }) => (id === 'b' ? refuse(400) : id), summary: () => refuse(400) },
      { name: 'two', plan, item: ({ id }) => (id === 'b' ? refuse(400) : id) },
    ],
  });
  await gateway.start();
  const runs = async (count) => {
    for (let done = 0; done < count; done++) {
      const { status } = await workflow.run('input').outcome;
      if (status !== 'partial') throw new Error(status);
    }
    // What ends after the outcome, and its collection.
    for (let turn = 0; turn < 20; turn++) { await setImmediate(); gc(); }
  };
  await runs(2500);
  const before = process.memoryUsage().heapUsed;
  await runs(2000);
  const grewBytes = process.memoryUsage().heapUsed - before;
  const { strings } = JSON.parse(await text(getHeapSnapshot()));
  const keptRuns = new Set(strings.flatMap((each) => each.match(/heap-\\d+-[0-9a-f]{8}/g) ?? [])).size;
  await gateway.stop();
  console.log(JSON.stringify({ grewBytes, keptRuns }));
`;

it('[I-3] [Q-7] 2,000 runs of a workflow leave nothing on the heap but the last attempts that are held', {
  // Some 10 s of computing, on a machine that may have other work.
  timeout: 300_000,
}, async () => {
  const { printed, complaints } = await runFresh(program(`${temporaryDirectory()}/heap.sqlite`), {
    nodeOptions: '--expose-gc',
  });
  expect(complaints).toBe('');
  const { grewBytes, keptRuns } = printed as { grewBytes: number; keptRuns: number };
  // The flight recorder holds 1,024 attempts; the last ones may still be in a cache of the engine or a buffer of the store.
  expect(keptRuns).toBeLessThan(1074);
  // A run takes some 10 kB while it goes on.
  expect(grewBytes).toBeLessThan(1_000_000);
});
