import { basename } from 'node:path';
import type { Runtime } from './runtime.ts';
import { createRedactor } from './store/redact.ts';
import { secretValues } from './store/secrets.ts';
import { createDisclose } from './telemetry/inspector/disclose.ts';
import { createFeed, type FrameFeed } from './telemetry/inspector/feed.ts';

/** The frames of a runtime of this process. What of the environment is secret is looked up when somebody watches. */
export function createInspectionFeed({ root, clock }: Pick<Runtime, 'root' | 'clock'>): FrameFeed {
  return createFeed({
    root,
    clock,
    disclose: () => createDisclose(createRedactor(secretValues(process.env))),
    name: basename(process.argv[1] ?? process.execPath),
    pid: process.pid,
  });
}
