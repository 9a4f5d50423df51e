import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The installed package; its program comes with it. */
export const agentSdkPath = fileURLToPath(
  new URL('node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs', import.meta.url),
);

/** Whether it is installed; `npm ci` in this directory does it. */
export const hasAgentSdk = existsSync(agentSdkPath);
