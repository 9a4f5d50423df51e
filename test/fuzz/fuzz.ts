import { Chance } from './chance.ts';
import { branchesTaken, forgetTraces, takeTrace } from './coverage.ts';
import { mutate } from './mutate.ts';
import { type Target, Violation } from './target.ts';

/** What was found by one kind of inputs. */
export interface Finding {
  readonly says: string;
  /** The shortest input that was found for it, as JSON. */
  readonly input: string;
  readonly stack: readonly string[];
}

export interface FuzzReport {
  readonly inputs: number;
  readonly corpus: number;
  readonly branches: number;
  /** Most steps for a byte among inputs of 64 bytes and more. */
  readonly stepsPerByte: number;
  /** The slowest input, in ms. */
  readonly slowestMs: number;
  readonly findings: readonly Finding[];
}

export interface FuzzOptions {
  readonly seed: number;
  readonly inputs: number;
  readonly words: readonly string[];
  /** Told of each input before it is read. */
  readonly began: (input: Buffer, count: number) => void;
}

/** Inputs that are kept for what they did; beyond it old ones make place. */
const mostKept = 4000;
/** Kinds of findings after which a run ends. */
const mostFindings = 12;
/** An input that takes longer, and then twice more of the processor alone, in ms: what no step counts is slow by itself, such as an expression that looks back. */
const slowMs = 1500;

/** Feeds a target with inputs that are changed by chance; those that do something new are changed further. */
export async function fuzz(target: Target, { seed, inputs, words, began }: FuzzOptions): Promise<FuzzReport> {
  forgetTraces();
  const chance = new Chance(seed);
  const { maxBytes = 4096, mostSteps = usualSteps } = target;
  const allWords = [...(target.words ?? []), ...words];
  const corpus: Buffer[] = target.seeds.map((each) => Buffer.from(each));
  if (corpus.length === 0) corpus.push(Buffer.from(''));
  const findings = new Map<string, Finding>();
  let [count, stepsPerByte, slowestMs] = [0, 0, 0];

  const play = async (input: Buffer): Promise<{ news: number; fault?: Error | undefined }> => {
    began(input, count);
    const from = performance.now();
    const fault = await faultOf(target, input, hashOf(input));
    const ms = performance.now() - from;
    const { steps, news } = takeTrace();
    if (input.length >= 64) stepsPerByte = Math.max(stepsPerByte, steps / input.length);
    slowestMs = Math.max(slowestMs, ms);
    if (fault !== undefined) return { news, fault };
    if (steps > mostSteps(input.length)) return { news, fault: new Violation(`too many steps for its length`) };
    if (ms > slowMs && (await isSlow(target, input))) return { news, fault: new Violation('too slow for its length') };
    return { news };
  };

  const note = async (input: Buffer, fault: Error): Promise<void> => {
    const key = kindOf(fault);
    if (findings.has(key) || findings.size >= mostFindings) return;
    findings.set(key, { says: String(fault), input: '', stack: [] });
    const shortest = await shrink(input, async (each) => {
      const { fault: other } = await play(each);
      return other !== undefined && kindOf(other) === key;
    });
    const { fault: last = fault } = await play(shortest);
    const stack = (last.stack ?? '')
      .split('\n')
      .slice(1, 6)
      .map((line) => line.trim());
    findings.set(key, {
      says: `${last.name}: ${last.message}`,
      input: JSON.stringify(shortest.toString('latin1')),
      stack,
    });
  };

  for (const input of [...corpus]) {
    const { fault } = await play(input);
    if (fault !== undefined) await note(input, fault);
    count++;
  }
  while (count < inputs && findings.size < mostFindings) {
    // The newest are where something new was found.
    const kept =
      chance.next() < 0.3
        ? corpus[corpus.length - 1 - Math.floor(chance.next() ** 2 * Math.min(64, corpus.length))]
        : undefined;
    const input = mutate(kept ?? chance.of(corpus), chance, () => chance.of(corpus), allWords, maxBytes);
    const { news, fault } = await play(input);
    count++;
    if (fault !== undefined) await note(input, fault);
    else if (news > 0) {
      if (corpus.length < mostKept) corpus.push(input);
      else corpus[chance.below(mostKept)] = input;
    }
  }
  await target.close?.();
  return {
    inputs: count,
    corpus: corpus.length,
    branches: branchesTaken(),
    stepsPerByte,
    slowestMs,
    findings: [...findings.values()],
  };
}

const usualSteps = (bytes: number): number => 100_000 + 300 * bytes;

async function faultOf(target: Target, input: Buffer, seed: number): Promise<Error | undefined> {
  try {
    const running = target.run(input, new Chance(seed).next);
    if (running instanceof Promise) await running;
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Violation(`threw ${String(error)}`);
  }
}

async function isSlow(target: Target, input: Buffer): Promise<boolean> {
  for (let time = 0; time < 2; time++) {
    const from = process.cpuUsage();
    await faultOf(target, input, hashOf(input));
    const { user, system } = process.cpuUsage(from);
    if ((user + system) / 1000 <= slowMs) return false;
  }
  return true;
}

/** Chance of an input is its own, so that it does the same whenever it is played. */
function hashOf(input: Buffer): number {
  let hash = input.length;
  for (const byte of input) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash;
}

/** Faults are of one kind when they say the same, but for what is quoted and counted, in the same place. */
function kindOf(fault: Error): string {
  const [, place = ''] = /\n\s+at ([^\n]*)/.exec(fault.stack ?? '') ?? [];
  const says = fault.message.replaceAll(/"(?:[^"\\]|\\.)*"|\d+|'[^']*'/g, '').slice(0, 80);
  return fault instanceof Violation ? says : `${fault.name} ${says} ${place}`;
}

/** Leaves out of an input what it fails without. */
async function shrink(input: Buffer, fails: (input: Buffer) => Promise<boolean>): Promise<Buffer> {
  let best: Buffer = input;
  let tries = 0;
  for (let size = Math.ceil(best.length / 2); size >= 1 && tries < 1500; size = Math.floor(size / 2)) {
    for (let at = 0; at < best.length && tries < 1500; tries++) {
      const shorter = Buffer.concat([best.subarray(0, at), best.subarray(at + size)]);
      if (await fails(shorter)) best = shorter;
      else at += size;
    }
  }
  return best;
}
