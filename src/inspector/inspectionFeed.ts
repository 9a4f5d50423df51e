import { basename } from 'node:path';
import type { Runtime } from '../runtime/runtime.ts';
import { createMaskedJson } from '../redaction/redactFact.ts';
import { createDisclose } from './disclose.ts';
import { createFeed, type FrameFeed } from './feed.ts';

/** The frames of a runtime of this process. */
export function createInspectionFeed({ root, clock, secrets }: Pick<Runtime, 'root' | 'clock' | 'secrets'>): FrameFeed {
  return createFeed({
    root,
    clock,
    disclose: () => createDisclose(createMaskedJson(secrets)),
    name: basename(process.argv[1] ?? process.execPath),
    pid: process.pid,
  });
}
