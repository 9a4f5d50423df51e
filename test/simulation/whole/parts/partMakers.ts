import type { PartMaker } from '../part.ts';
import { acpMaker } from './acpPart.ts';
import { codexMaker } from './codexPart.ts';
import { mcpMaker } from './mcpPart.ts';
import { proxyMaker } from './proxyPart.ts';
import { runMaker } from './runPart.ts';
import { sessionMaker } from './sessionPart.ts';
import { streamMaker } from './streamPart.ts';
import { workflowMaker } from './workflowPart.ts';

/** The parts of the runtime that are simulated on one host, by their names. */
export const partMakers: Readonly<Record<string, PartMaker>> = {
  mcp: mcpMaker,
  run: runMaker,
  stream: streamMaker,
  session: sessionMaker,
  workflow: workflowMaker,
  codex: codexMaker,
  proxy: proxyMaker,
  acp: acpMaker,
};
