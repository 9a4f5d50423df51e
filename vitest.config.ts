import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/globalSetup.ts'],
    // The only bound on what waits for a real process: many times what that takes, since a busy machine is no failure.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // Where the machine is anybody's; test/unsteadyReporter.ts names what needed it.
    retry: process.env['CI'] === 'true' ? 1 : 0,
    expect: { poll: { interval: 10, timeout: 60_000 } },
  },
});
