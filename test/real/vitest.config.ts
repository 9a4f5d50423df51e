import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    root: fileURLToPath(new URL('../..', import.meta.url)),
    include: ['test/real/**/*.real.ts'],
    globalSetup: [fileURLToPath(new URL('sayWhatIsMissing.ts', import.meta.url))],
    // Programs of some hundred MB, which are read from disk the first time.
    testTimeout: 120_000,
    // The build, where there is none.
    hookTimeout: 300_000,
    expect: { poll: { interval: 50, timeout: 119_000 } },
    maxWorkers: 1,
  },
});
