import { configDefaults, defineConfig } from 'vitest/config';
import config from '../../vitest.config.ts';

/** Globs of test files, those behind `!` left out; `main.ts` gives them. */
const tests = (process.env['MUTATION_TESTS'] ?? '').split(' ');

/** The quick tests, without what they need for real processes: the built files and the guard of children. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: tests
      .filter((glob) => !glob.startsWith('!'))
      .map((glob) => `${glob}.test.ts`.replace('.test.ts.test.ts', '.test.ts')),
    exclude: [
      ...configDefaults.exclude,
      '**/*.slow.test.ts',
      ...tests.filter((glob) => glob.startsWith('!')).map((glob) => glob.slice(1)),
    ],
    runner: './test/mutation/warmWorker.ts',
    globalSetup: [],
    setupFiles: [],
    retry: 0,
    // Many times what the slowest of them takes: a change that makes a test wait for good is noticed then.
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
