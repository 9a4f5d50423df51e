import { EventScanner } from '../../proxy/api/eventScanner.ts';
import { SpinningRequests } from '../../proxy/api/spinningRequests.ts';
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

/** A call whose arguments are 1,000 small objects, 93 kB in all; another one each time. */
export function manyObjects(make: () => Watch): Case {
  const items = Array.from({ length: 1_000 }, (_, index) => ({
    path: `/srv/app/file${index}.ts`,
    line: index,
    kind: 'function',
    exported: index % 2 === 0,
    tags: ['a', 'b'],
  }));
  const inputs = Array.from({ length: 70 }, (_, number) => ({ items, number }));
  return {
    async measure(probe) {
      const watch = make();
      const play = () => {
        for (const input of inputs) watch(input, false, 'written');
      };
      play();
      await probe.time('call', inputs.length, play);
    },
  };
}

/** Looks at a request of a model, by its body. */
type Judge = (body: Buffer) => unknown;

export const judgedByUs = (): Judge => {
  const requests = new SpinningRequests('notice');
  return (body) => requests.judge(body, {}, 0);
};
export const readByHand = (): Judge => (body) => JSON.parse(body.toString('utf8')) as unknown;

/** Requests of about 100 kB, each of which goes on from the one before by a call and its answer of 1.7 kB. */
export function requests(make: () => Judge): Case {
  const rounds = Array.from({ length: 70 }, (_, index) => [
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: `toolu_${index}`, name: 'Read', input: { file_path: `/srv/file${index}.ts` } }],
    },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `toolu_${index}`, content: lines.slice(index, index + 1_700) }],
    },
  ]);
  const bodies = Array.from({ length: 20 }, (_, more) => {
    const messages = [{ role: 'user', content: 'Look.' }, ...rounds.slice(0, 50 + more).flat()];
    return Buffer.from(JSON.stringify({ model: 'm', messages }));
  });
  return {
    async measure(probe) {
      const judge = make();
      const first = bodies[0] ?? Buffer.alloc(0);
      const play = () => {
        for (const body of bodies) judge(body);
      };
      judge(first);
      play();
      await probe.time('call', bodies.length, play);
    },
  };
}

/** Looks at a stream of text, by its bytes. */
type Scan = (stream: Buffer) => unknown;

export const scannedByUs = (): Scan => (stream) => {
  const scanner = new EventScanner('messages');
  scanner.push(stream);
  return scanner.said;
};
export const scannedByHand = (): Scan => (stream) =>
  stream
    .toString('utf8')
    .split('\n\n')
    .filter((event) => event !== '' && JSON.parse(event.slice(event.indexOf('{'))) !== undefined).length;

/** Events of a streamed answer, each with a word. */
export function events(make: () => Scan): Case {
  const count = 2_000;
  const word = (index: number) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text: `word${(index * 7919) % 997} ` },
  });
  const stream = Buffer.from(
    Array.from(
      { length: count },
      (_, index) => `event: content_block_delta\ndata: ${JSON.stringify(word(index))}\n\n`,
    ).join(''),
  );
  return {
    async measure(probe) {
      const scan = make();
      scan(stream);
      await probe.time('event', count, () => scan(stream));
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
