import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';
import { inlinePage } from './scripts/inlinePage.mjs';

export default defineConfig({
  plugins: [inlinePage()],
  test: {
    include: ['test/**/*.test.ts'],
    // Those have a command of their own: `npm run test:slow`.
    exclude: [...configDefaults.exclude, 'test/**/*.slow.test.ts'],
    globalSetup: ['test/globalSetup.ts'],
    setupFiles: ['test/keptGuard.ts'],
    // A process that is started for every file spends most of its time on loading the same modules.
    isolate: false,
    // Two on each core: half of their time these tests wait for processes.
    maxWorkers: 2 * availableParallelism(),
    unstubEnvs: true,
    restoreMocks: true,
    // The only bound on what waits for a real process: many times what that takes, since a busy machine is no failure.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // Where the machine is anybody's; test/unsteadyReporter.ts names what needed it.
    retry: process.env['CI'] === 'true' ? 1 : 0,
    expect: { poll: { interval: 10, timeout: 60_000 } },
  },
});
