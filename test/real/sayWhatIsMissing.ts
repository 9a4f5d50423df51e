import { claudePath, hasClaude } from './claudeEnv.ts';
import { agentSdkPath, hasAgentSdk } from './agentSdkEnv.ts';
import { codexPath, hasCodex } from './codexEnv.ts';

/** Vitest calls it once before all tests. */
export function setup(): void {
  const advice = 'skipped. Run `npm ci --ignore-scripts` in test/real.';
  if (!hasClaude) console.log(`Claude is not installed (${claudePath}); ${advice}`);
  if (!hasAgentSdk) console.log(`The Agent SDK is not installed (${agentSdkPath}); ${advice}`);
  if (!hasCodex) console.log(`Codex is not installed (${codexPath}); ${advice}`);
}
