import { claudePath, hasClaude } from './claudeEnv.ts';

/** Vitest calls it once before all tests. */
export function setup(): void {
  if (!hasClaude)
    console.log(`Claude is not installed (${claudePath}); skipped. Run \`npm ci --ignore-scripts\` in test/real.`);
}
