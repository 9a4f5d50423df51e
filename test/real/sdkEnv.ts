import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** An agent over the SDKs that are installed. */
export const sdkAgentPath = fileURLToPath(new URL('sdkAgent.mjs', import.meta.url));

const isInstalled = (name: string): boolean =>
  existsSync(fileURLToPath(new URL(`node_modules/${name}/package.json`, import.meta.url)));

/** Whether they are installed, and this is a Node for them. */
export const hasSdks =
  isInstalled('openai') && isInstalled('@anthropic-ai/sdk') && Number.parseInt(process.versions.node) >= 22;
