import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** What takes real time: programs at length, chaos, seeds by the hundred, browsers, whole examples. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ['test/**/*.slow.test.ts'],
    exclude: configDefaults.exclude,
    // Each of these keeps a core busy with programs of its own.
    maxWorkers: availableParallelism(),
  },
});
