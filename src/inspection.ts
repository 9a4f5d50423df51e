import { basename } from 'node:path';
import type { Runtime } from './runtime.ts';
import { createRedactor } from './store/redact.ts';
import { secretValues } from './store/secrets.ts';
import { createDisclose } from './telemetry/inspector/disclose.ts';
import { createFeed, type FrameFeed } from './telemetry/inspector/feed.ts';

/** The machines of a runtime as frames for inspectors, without secrets; what of the environment is secret is looked up when somebody watches. */
export function createInspection({ root, clock }: Pick<Runtime, 'root' | 'clock'>): FrameFeed {
  return createFeed({
    root,
    clock,
    disclose: () => createDisclose(createRedactor(secretValues(process.env))),
    name: basename(process.argv[1] ?? process.execPath),
    pid: process.pid,
  });
}

const inspections = new WeakMap<object, FrameFeed>();

/** Notes how a gateway is inspected; its own interface has no place for that. Gives the gateway back. */
export function withInspection<G extends object>(frames: FrameFeed, gateway: G): G {
  inspections.set(gateway, frames);
  return gateway;
}

export function inspectionOf(gateway: object): FrameFeed | undefined {
  return inspections.get(gateway);
}
