import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import config from './vitest.config.ts';

/** Begins with the simulations, which take minutes each: at the end one core would wait for them. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => moduleId.includes('/test/simulation/');
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** What takes real time: programs at length, chaos, seeds by the hundred, browsers, whole examples. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ['test/**/*.slow.test.ts'],
    exclude: configDefaults.exclude,
    sequence: { sequencer: LongestFirst },
    // Each of these keeps a core busy with programs of its own.
    maxWorkers: availableParallelism(),
  },
});
