import { basename, relative, resolve } from 'node:path';
import { BroadcastChannel } from 'node:worker_threads';
import { channelName, type Job, type Played } from './warm.ts';

interface Order {
  readonly activeMutant: { readonly id: string };
  readonly mutantActivation: 'runtime' | 'static';
  readonly testFilter?: readonly string[];
  readonly hitLimit?: number;
  readonly sandboxFileName: string;
}

type Result =
  | { readonly status: 'survived'; readonly nrOfTests: number }
  | {
      readonly status: 'killed';
      readonly killedBy: readonly string[];
      readonly failureMessage: string;
      readonly nrOfTests: number;
    }
  | { readonly status: 'timeout'; readonly reason?: string }
  | { readonly status: 'error'; readonly errorMessage: string };

/** Stryker's own, as far as it is used here. */
interface ColdRunner {
  ctx: {
    provide: (key: string, value: unknown) => void;
    getRelevantTestSpecifications: () => Promise<readonly { readonly moduleId: string }[]>;
    start: (files: readonly string[]) => Promise<unknown>;
    readonly config: { related?: readonly string[] | undefined };
    readonly projects: readonly { readonly config: { testNamePattern?: RegExp | undefined } }[];
  };
  mutantRun(order: Order): Promise<Result>;
  dispose(): Promise<void>;
}

const path = './node_modules/@stryker-mutator/vitest-runner/dist/src/vitest-test-runner.js';
const { VitestTestRunner } = (await import(new URL(path, import.meta.url).href)) as {
  readonly VitestTestRunner: new (...words: unknown[]) => ColdRunner;
};

/** Has one worker of Vitest try one change after the other. What cannot be tried in it, since an earlier change has left something behind, has a worker of its own. */
export class WarmRunner extends VitestTestRunner {
  static inject = ['options', 'logger', 'globalNamespace'];
  readonly #channel = new BroadcastChannel(channelName);
  readonly #related = new Map<string, Record<string, string[]>>();
  #warm: Promise<unknown> | undefined;
  #heard: (played: Played) => void = () => undefined;

  constructor(...words: unknown[]) {
    super(...words);
    this.#channel.onmessage = (event): void => this.#heard((event as { readonly data: Played }).data);
  }

  override async mutantRun(order: Order): Promise<Result> {
    const { testFilter, activeMutant, hitLimit } = order;
    const whileLoading = testFilter === undefined || order.mutantActivation === 'static';
    const tests = whileLoading ? await this.#filesOf(order.sandboxFileName) : byFile(testFilter);
    const [carrier] = Object.keys(tests);
    if (carrier === undefined) return this.#cold(order);
    await this.#warmUp(carrier);
    const played = await this.#ask({ mutant: activeMutant.id, hitLimit, tests, whileLoading });
    if (played.end === 'survived') return { status: 'survived', nrOfTests: played.count };
    if (played.end === 'looped') return { status: 'timeout', reason: 'Hit limit reached' };
    if (played.end !== 'killed') return this.#cold(order);
    const killedBy = [`${relative(process.cwd(), played.file).replaceAll('\\', '/')}#${played.test}`];
    return { status: 'killed', killedBy, failureMessage: played.message, nrOfTests: played.count };
  }

  override async dispose(): Promise<void> {
    await this.#coolDown();
    this.#channel.close();
    await super.dispose();
  }

  async #cold(order: Order): Promise<Result> {
    await this.#coolDown();
    const result = await super.mutantRun(order);
    // A run with errors outside of tests fails.
    return result.status === 'error'
      ? { status: 'killed', killedBy: [], failureMessage: result.errorMessage, nrOfTests: 1 }
      : result;
  }

  /** The test files that load a file, the one of its name first. */
  async #filesOf(source: string): Promise<Record<string, string[]>> {
    const known = this.#related.get(source);
    if (known !== undefined) return known;
    this.ctx.config.related = [source.replaceAll('\\', '/')];
    const files = (await this.ctx.getRelevantTestSpecifications()).map(({ moduleId }) => moduleId);
    this.ctx.config.related = undefined;
    const own = basename(source).replace(/\.ts$/, '.test.ts');
    files.sort((one, other) => Number(other.endsWith(`/${own}`)) - Number(one.endsWith(`/${own}`)));
    const tests = Object.fromEntries(files.map((file) => [file, ['']]));
    this.#related.set(source, tests);
    return tests;
  }

  async #warmUp(carrier: string): Promise<void> {
    if (this.#warm !== undefined) return;
    this.ctx.provide('mode', 'warm');
    this.ctx.config.related = undefined;
    for (const { config } of this.ctx.projects) config.testNamePattern = undefined;
    const ready = this.#next();
    this.#warm = this.ctx.start([carrier]);
    await ready;
  }

  async #coolDown(): Promise<void> {
    if (this.#warm === undefined) return;
    this.#channel.postMessage('end');
    await this.#warm;
    this.#warm = undefined;
  }

  #ask(job: Job): Promise<Played> {
    const answer = this.#next();
    this.#channel.postMessage(job);
    return answer;
  }

  #next(): Promise<Played> {
    return new Promise((heard) => (this.#heard = heard));
  }
}

function byFile(ids: readonly string[]): Record<string, string[]> {
  const tests: Record<string, string[]> = {};
  for (const id of ids) {
    const [file = '', ...name] = id.split('#');
    (tests[resolve(file)] ??= []).push(name.join('#'));
  }
  return tests;
}

create.inject = ['$injector'];
interface Injector {
  readonly provideValue: (
    name: string,
    value: unknown,
  ) => { readonly injectClass: (made: typeof WarmRunner) => WarmRunner };
}
export function create(injector: Injector): WarmRunner {
  return injector.provideValue('globalNamespace', '__stryker__').injectClass(WarmRunner);
}
