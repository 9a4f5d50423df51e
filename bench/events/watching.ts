import { createGateway } from '../../src/gateway/gateway.ts';
import { inspectionOf } from '../../src/inspector/inspection.ts';
import type { Case } from '../harness/suite.ts';

const called = 20_000;

/**
 * A call that moves its machine twice, with the machines never watched, watched no longer, or watched by an inspector that reads
 * everything.
 */
export function callWatched(when: 'never' | 'before' | 'now'): Case {
  return {
    // What another case had compiled would be measured too.
    isolated: true,
    async measure(probe) {
      const gateway = createGateway();
      const kb = gateway.integration('kb', {}, () => 1);
      // Who listens has the machine follow each call at once.
      gateway.on('integration.changed', () => undefined);
      await gateway.start();
      const viewer = when === 'never' ? undefined : await inspectionOf(gateway)?.open();
      let frames = 0;
      viewer?.on('data', () => frames++);
      const call = async (times: number): Promise<void> => {
        for (let index = 0; index < times; index++) {
          await kb.call(undefined);
          await new Promise(setImmediate);
        }
      };
      await call(called / 10);
      if (when === 'before') viewer?.destroy();
      // What was compiled for the one way is compiled anew for the other.
      await call(called / 2);
      const heardBefore = frames;
      await probe.time('call', called, () => call(called));
      const heard = frames - heardBefore;
      await gateway.stop();
      if (when === 'now' ? heard < called : heard > 0) throw new Error(`Heard ${heard} frames of ${called} calls`);
    },
  };
}
