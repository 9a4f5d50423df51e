import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway } from '../../src/gateway/gateway.ts';
import type { Case } from '../harness/suite.ts';

/** Heap of an idle session that is kept in a file. @param works - whether it has processed a message before. @defaultValue it sleeps */
export function idleHeap(count: number, works = false): Case {
  return {
    isolated: true,
    async measure(probe) {
      const directory = mkdtempSync(join(tmpdir(), 'unwedge-bench-'));
      const gateway = createGateway({ store: join(directory, 'kept.sqlite'), control: false });
      const onMessage = () => undefined;
      const opened = async (from: number, to: number): Promise<void> => {
        for (let index = from; index < to; index++) gateway.session(`session-${index}`, { onMessage });
        for (let index = works ? from : to - 1; index < to; index++) {
          const sent = await gateway.session(`session-${index}`).send({ kind: 'user' });
          if (sent.accepted) await sent.processed;
        }
      };
      await gateway.start();
      await opened(0, 100);
      await probe.heap('heap', count, () => opened(100, 100 + count));
      await gateway.stop();
      rmSync(directory, { recursive: true });
    },
  };
}
