import { ownLimits } from '../../src/policy/spinning/spinningRule.ts';
import { seenCall, SpinningWatch } from '../../src/policy/spinning/spinningWatch.ts';
import type { Case } from '../harness/suite.ts';

/** Detector of repetition: told of a call and its answer, it says whether they came too often. */
type Watch = (input: unknown, failed: boolean, answer: string) => unknown;

export const ours = (): Watch => {
  const watch = new SpinningWatch(ownLimits);
  let at = 0;
  return (input, failed, answer) => {
    const call = seenCall({ tool: 'write_file', input });
    const seen = failed
      ? ({ ok: false, kind: 'tool_error', message: answer } as const)
      : ({ ok: true, value: answer } as const);
    return watch.before(call) ?? watch.after(call, seen, at++);
  };
};

/** As one writes it by hand: equal calls and answers among the last sixty, to the letter. */
export const byHand = (): Watch => {
  const last: string[] = [];
  return (input, _failed, answer) => {
    const key = JSON.stringify([input, answer]);
    last.push(key);
    if (last.length > 60) last.shift();
    return last.filter((each) => each === key).length >= 4;
  };
};

const lines = 'The quick brown fox jumps over the lazy dog, and runs away from here.\n'.repeat(2_000);

/** Arguments of `size` characters, as a line of JSON brings them. */
const file = (size: number, index: number): unknown =>
  JSON.parse(
    JSON.stringify({ path: `/srv/app/src/file${index}.ts`, content: `${index} ${lines.slice(index % 70, size)}` }),
  );

/** Calls of `different` arguments in turn, all answered by `answer`, which begins with `!` where they fail. */
export function calls(make: () => Watch, size: number, different: number, answer = 'written'): Case {
  return {
    async measure(probe) {
      const inputs = Array.from({ length: different }, (_, index) => file(size, index));
      const watch = make();
      const count = size > 10_000 ? 1_000 : 20_000;
      const play = () => {
        for (let index = 0; index < count; index++) watch(inputs[index % different], answer.startsWith('!'), answer);
      };
      play();
      await probe.time('call', count, play);
    },
  };
}

const watches = 1_000;

/** Memory of a watch that has seen more than it keeps, of the dearest kind: answers with times, then large ones again and again. */
export function held(make: () => Watch): Case {
  return {
    isolated: true,
    async measure(probe) {
      fill(make());
      const before = bytes();
      const all = Array.from({ length: watches }, () => fill(make()));
      probe.record('memory', (bytes() - before) / all.length / 1_000, 'kB');
    },
  };
}

function fill(watch: Watch): Watch {
  for (let index = 0; index < 200; index++) {
    const isLate = index >= 100;
    const answer = isLate ? 'x'.repeat(5_000) : `at 02:14:${10 + (index % 50)} ${'é'.repeat(230)} ${index}`;
    watch({ at: isLate ? index % 16 : index }, index % 16 < 4, `${answer}.`);
  }
  return watch;
}

/** Bytes of live objects and of the buffers outside of the heap. */
function bytes(): number {
  for (let round = 0; round < 3; round++) globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
