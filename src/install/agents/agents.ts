import type { AgentName } from '../configFile.ts';
import type { Agent } from './agent.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { cursor } from './cursor.ts';
import { openclaw } from './openclaw.ts';
import { vscode } from './vscode.ts';

export const agents: Readonly<Record<AgentName, Agent>> = { claude, codex, cursor, vscode, openclaw };
