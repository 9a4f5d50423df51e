import { relative } from 'node:path';
import { Compiler } from './compiler.ts';
import { notDrawn } from './report.ts';
import { inSample, type Sample } from './sample.ts';
import { create } from './warmRunner.ts';
import { textForPeople, type SourcePath } from './texts.ts';

interface Mutant {
  readonly id: string;
  readonly fileName: string;
  readonly mutatorName: string;
  readonly replacement: string;
  readonly location: Parameters<typeof inSample>[1]['location'];
}

type Judged = { readonly status: 'passed' } | { readonly status: 'compileError'; readonly reason: string };

/** Lets through the mutants of a sample that compile: what the compiler refuses never comes before a test. */
class Checker {
  readonly #sample = JSON.parse(process.env['MUTATION_SAMPLE'] ?? '{"seed":1,"share":100}') as Sample;

  #compiler: Compiler | undefined;

  async init(): Promise<void> {
    this.#compiler = await Compiler.start();
  }

  /** A few at a time: the first are tried while the others are compiled. */
  group(mutants: readonly Mutant[]): Promise<string[][]> {
    const ids = mutants.map(({ id }) => id);
    const groups = Array.from({ length: Math.ceil(ids.length / 10) }, (_, index) =>
      ids.slice(10 * index, 10 * index + 10),
    );
    return Promise.resolve(groups);
  }

  check(mutants: readonly Mutant[]): Promise<Record<string, Judged>> {
    return Promise.resolve(Object.fromEntries(mutants.map((mutant) => [mutant.id, this.#judge(mutant)])));
  }

  #judge({ fileName, mutatorName, replacement, location }: Mutant): Judged {
    const file = relative(process.cwd(), fileName).replaceAll('\\', '/');
    const drawn = inSample(this.#sample, { file, mutator: mutatorName, replacement, location });
    if (!drawn) return { status: 'compileError', reason: notDrawn };
    return this.#compiler?.takes(file, location, replacement) === false
      ? { status: 'compileError', reason: 'does not compile' }
      : { status: 'passed' };
  }
}

export const strykerPlugins = [
  { kind: 'Checker', name: 'sample', injectableClass: Checker },
  { kind: 'TestRunner', name: 'warm', factory: create },
  { kind: 'Ignore', name: 'texts', value: { shouldIgnore: (path: SourcePath) => textForPeople(path) } },
];
