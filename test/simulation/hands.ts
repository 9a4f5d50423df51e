import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type PlayedRange, playRange, type SeedRange } from './runSeeds.ts';

/** Player of seeds: this process, or one of its own. */
export interface Hand {
  play(range: SeedRange): Promise<PlayedRange>;
  close(): void;
}

export function openHands(jobs: number): readonly Hand[] {
  if (jobs === 1) return [{ play: playRange, close: () => undefined }];
  return Array.from({ length: jobs }, openProcess);
}

function openProcess(): Hand {
  const child = fork(fileURLToPath(new URL('./handProgram.js', import.meta.url)));
  return {
    play: (range) =>
      new Promise((resolve, reject) => {
        const died = (code: number | null): void =>
          reject(new Error(`the process that played ${JSON.stringify(range)} ended by ${code}`));
        child.once('exit', died);
        child.once('message', (played) => {
          child.off('exit', died);
          resolve(played as PlayedRange);
        });
        child.send(range);
      }),
    close: () => child.disconnect(),
  };
}
