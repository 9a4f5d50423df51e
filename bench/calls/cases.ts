import type { Contender, Running, Setup, Work } from '../contenders/contender.ts';
import { roomForAll } from '../harness/probe.ts';
import type { Case } from '../harness/suite.ts';

/** Calls of a round, of a contender that is not dear. */
const called = 50_000;

const answers: Work = async (input) => input;
const looksAtSignal: Work = async (input, signal) => (signal?.aborted === true ? -1 : input);

/** Calls one after the other, each awaited, that succeed at once. */
export function inTurn(contender: Contender): Case {
  return timed(contender, { work: answers });
}

/** The same, by work that looks at its signal, as anything does that is to end when it is given up. */
export function withSignal(contender: Contender): Case {
  return timed(contender, { work: looksAtSignal, readsSignal: true });
}

function timed(contender: Contender, setup: Setup): Case {
  const count = fewer(contender, called);
  return {
    async measure(probe) {
      const running = await contender.start(setup);
      await warmUp(running, count);
      await probe.time('call', count, () => callInTurn(running, count));
      await running.stop();
    },
  };
}

/** Bytes that a call allocates until it is answered, where nothing is collected meanwhile. */
export function allocates(contender: Contender): Case {
  return {
    isolated: true,
    once: true,
    flags: roomForAll,
    async measure(probe) {
      const running = await contender.start({ work: answers });
      // What a call allocates changes too when it is compiled for good.
      await warmUp(running, fewer(contender, called));
      const count = fewer(contender, 10_000);
      await probe.allocated('allocated', count, () => callInTurn(running, count));
      await running.stop();
    },
  };
}

/** Parts of a sparse case, so that what disturbs the machine disturbs both. */
const parts = 20;

/**
 * Each call alone, with a turn of the event loop after it, as in a gateway that is not under load; and in turn with it the bare work with such
 * turns, for what the call costs over it.
 */
export function sparse(contender: Contender, base: Contender): Case {
  const count = Math.max(500, fewer(contender, 20_000) / parts);
  return {
    async measure(probe) {
      const [own, bare] = [await contender.start({ work: answers }), await base.start({ work: answers })];
      const spent = { own: 0, bare: 0 };
      for (const running of [own, bare]) {
        await warmUp(running, fewer(contender, called));
        await callAlone(running, count);
      }
      for (let part = 0; part < parts; part++) {
        spent.bare += await cpuOf(() => callAlone(bare, count));
        spent.own += await cpuOf(() => callAlone(own, count));
      }
      probe.record('call cpu', spent.own / parts / count, 'µs');
      if (contender !== base) probe.record('cpu over bare', (spent.own - spent.bare) / parts / count, 'µs');
      await own.stop();
      await bare.stop();
    },
  };
}

function fewer({ dear }: Contender, count: number): number {
  return count / 10 ** dear;
}

/**
 * A gateway lives for days: what is compiled anew for a fresh one is not what a call costs, here or of anybody. Compiling goes on behind, and
 * is not done when as many calls are that take 20 ms together.
 */
async function warmUp(running: Running, count: number): Promise<void> {
  for (let part = 0; part < 3; part++) {
    await callInTurn(running, count);
    await nextTurn();
  }
}

async function callInTurn(running: Running, count: number): Promise<void> {
  for (let input = 0; input < count; input++) await running.call(input);
}

async function callAlone(running: Running, count: number): Promise<void> {
  for (let input = 0; input < count; input++) {
    await running.call(input);
    await nextTurn();
  }
}

async function cpuOf(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });
