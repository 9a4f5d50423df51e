import { claudePath, hasClaude } from './claudeEnv.ts';
import { agentSdkPath, hasAgentSdk } from './agentSdkEnv.ts';
import { codexPath, hasCodex } from './codexEnv.ts';
import { copilotPath, hasCopilot } from './copilotEnv.ts';
import { geminiPath, hasGemini } from './geminiEnv.ts';
import { goosePath, hasGoose } from './gooseEnv.ts';
import { hasOpencode, opencodePath } from './opencodeEnv.ts';
import { hasSdks } from './sdkEnv.ts';

/** Vitest calls it once before all tests. */
export function setup(): void {
  const advice = 'skipped. Run `npm ci --ignore-scripts` in test/real.';
  if (!hasClaude) console.log(`Claude is not installed (${claudePath}); ${advice}`);
  if (!hasAgentSdk) console.log(`The Agent SDK is not installed (${agentSdkPath}); ${advice}`);
  if (!hasCodex) console.log(`Codex is not installed (${codexPath}); ${advice}`);
  if (!hasOpencode) console.log(`opencode is not installed (${opencodePath}); ${advice}`);
  if (!hasGemini) console.log(`gemini-cli is not installed (${geminiPath}); ${advice}`);
  if (!hasGoose) console.log(`goose is not installed (${goosePath}); ${advice}`);
  if (!hasCopilot) console.log(`Copilot is not installed (${copilotPath}); ${advice}`);
  if (!hasSdks) console.log(`The SDKs are not installed, or this is a Node before 22; ${advice}`);
}
