import { BroadcastChannel } from 'node:worker_threads';
import { startTests } from '@vitest/runner';
import { TestRunner, vi } from 'vitest';
import { channelName, type Job, type Played } from './warm.ts';

type Task = Awaited<ReturnType<typeof startTests>>[number]['tasks'][number];
type Test = Task & { readonly type: 'test' };

/** Names that the changed source asks for at each change: https://stryker-mutator.io/docs/mutation-testing-elements/mutant-schemata. */
const switches = ((globalThis as Record<string, unknown>)['__stryker__'] ??= {}) as {
  activeMutant?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
};

/** Errors outside of tests, for which Vitest calls a run failed. */
let unhandled: unknown[] = [];

/** Runs tests as Vitest does; in a warm run it tries one change after the other instead, without loading the modules of the source again. */
export default class WarmWorker extends TestRunner {
  async onBeforeCollect(): Promise<void> {
    if (this.injectValue('mode') !== 'warm') return;
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('uncaughtException', note).on('unhandledRejection', note);
    this.config.setupFiles = [];
    const channel = new BroadcastChannel(channelName);
    const jobs: (Job | 'end')[] = [];
    let wake = (): void => undefined;
    channel.onmessage = (event): void => {
      jobs.push((event as { readonly data: Job | 'end' }).data);
      wake();
    };
    const say = (played: Played): void => channel.postMessage(played);
    say({ end: 'ready' });
    for (;;) {
      const job = jobs.shift();
      if (job === 'end') break;
      if (job !== undefined) say(await this.#play(job));
      else await new Promise<void>((resolve) => (wake = resolve));
    }
    channel.close();
    process.off('uncaughtException', note).off('unhandledRejection', note);
    // Vitest began this run with a file of its own choice, which has nothing to say.
    this.config.testNamePattern = /^$/;
  }

  async #play(job: Job): Promise<Played> {
    if (!job.whileLoading) return this.#try(job);
    vi.resetModules();
    try {
      return await this.#try(job);
    } finally {
      vi.resetModules();
    }
  }

  async #try({ mutant, hitLimit, tests, whileLoading }: Job): Promise<Played> {
    Object.assign(switches, { hitCount: 0, hitLimit });
    let count = 0;
    for (const [file, names] of Object.entries(tests)) {
      switches.activeMutant = whileLoading ? mutant : undefined;
      const { ran, failed } = await this.#run(file, names, mutant);
      count += ran;
      if ((switches.hitCount ?? 0) > (hitLimit ?? Number.POSITIVE_INFINITY)) return { end: 'looped' };
      if (failed === undefined) continue;
      const test = failed.name ?? names[0] ?? '';
      if (whileLoading) vi.resetModules();
      const again = await this.#run(file, [test], undefined);
      if (again.failed !== undefined) return { end: 'contaminated' };
      return { end: 'killed', count, file, test, message: failed.message };
    }
    return { end: 'survived', count };
  }

  async #run(file: string, names: readonly string[], mutant: string | undefined) {
    unhandled = [];
    const pattern = names.map((name) => name.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')).join('|');
    this.config.testNamePattern = new RegExp(`(?:${pattern})\\s*$`);
    const runner = new OneChange(this.config, mutant);
    runner.warmedBy(this);
    const [loaded] = await startTests([file], runner);
    // An error that nobody awaits is told a turn later.
    await new Promise((resolve) => setImmediate(resolve));
    const all = loaded === undefined ? [] : testsOf(loaded.tasks);
    const ran = all.filter(({ result }) => result?.state === 'pass' || result?.state === 'fail').length;
    const test = all.find(({ result }) => result?.state === 'fail');
    const errors = test?.result?.errors ?? loaded?.result?.errors;
    if (test !== undefined || loaded?.result?.state === 'fail')
      return { ran, failed: { name: test && nameOf(test), message: errors?.[0]?.message ?? 'It failed' } };
    return { ran, failed: unhandled.length === 0 ? undefined : { name: undefined, message: String(unhandled[0]) } };
  }
}

/** Runs one file with one change, which is on while its tests run. */
class OneChange extends TestRunner {
  readonly #mutant: string | undefined;

  constructor(config: TestRunner['config'], mutant: string | undefined) {
    super(config);
    this.#mutant = mutant;
  }

  warmedBy(other: object): void {
    const { moduleRunner, _otel } = other as Record<string, unknown>;
    Object.assign(this, { moduleRunner, _otel });
  }

  override importFile(file: string, source: 'collect' | 'setup'): unknown {
    const { evaluatedModules } = (this as unknown as { workerState: { evaluatedModules: Modules } }).workerState;
    const known = evaluatedModules.getModuleById(file);
    if (known !== undefined) evaluatedModules.invalidateModule(known);
    return super.importFile(file, source);
  }

  onBeforeRunFiles(): void {
    switches.activeMutant = this.#mutant;
  }

  override onAfterRunFiles(): void {
    switches.activeMutant = undefined;
    super.onAfterRunFiles();
  }

  override onAfterRunTask(test: Test): void {
    super.onAfterRunTask(test);
    if (test.result?.state === 'fail') this.cancel('test-failure');
  }
}

interface Modules {
  getModuleById: (id: string) => object | undefined;
  invalidateModule: (module: object) => void;
}

function testsOf(tasks: readonly Task[]): Test[] {
  return tasks.flatMap((task) => (task.type === 'suite' ? testsOf(task.tasks) : [task as Test]));
}

/** @returns the name with those of its suites, as Stryker knows it. */
function nameOf(test: Test): string {
  const names = [test.name];
  for (let { suite } = test; suite !== undefined; { suite } = suite) names.unshift(suite.name);
  return names.join(' ').trim();
}
