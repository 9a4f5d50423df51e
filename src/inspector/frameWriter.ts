import type { AnyActorRef, AnyEventObject } from 'xstate';
import type { Supervision } from '../supervisor/supervision.ts';
import { configOf } from './actors.ts';
import type { Disclose } from './disclose.ts';
import type { ActorFrame, EventFrame, SnapshotFrame } from './frames.ts';

/** The version of `@statelyai/inspect` whose wire format the frames have. */
const wireVersion = '0.7.2';

/** Writes the official frames, each as JSON. */
export interface FrameWriter {
  /** @param snapshot - undefined for an actor that is being made. */
  actor(ref: AnyActorRef, snapshot: unknown): string;
  event(ref: AnyActorRef, event: AnyEventObject, sourceId: string | undefined): string;
  snapshot(ref: AnyActorRef, event: AnyEventObject, snapshot: unknown): string;
}

/**
 * @param rootId - of the actor system.
 * @param wallNow - gives wall time in ms since the epoch.
 */
export function createFrameWriter(rootId: string, disclose: Disclose, wallNow: () => number): FrameWriter {
  const common = ({ sessionId }: AnyActorRef) => ({
    sessionId,
    rootId,
    createdAt: String(Math.round(wallNow())),
    id: null,
    _version: wireVersion,
  });
  /** An event keeps its type whatever became of the rest; the end of an actor has the actor's name in it. */
  const eventOf = ({ name, event }: Readonly<Record<string, unknown>>, { type }: AnyEventObject): object => ({
    ...(typeof event === 'object' ? event : {}),
    type: name ?? disclose({ name: type })['name'],
  });
  return {
    actor(ref, snapshot) {
      const shown = disclose({ name: ref.id, snapshot: snapshotData(snapshot) });
      return JSON.stringify({
        type: '@xstate.actor',
        ...common(ref),
        name: String(shown['name']),
        parentId: ref._parent?.sessionId,
        definition: definitionOf(ref),
        snapshot: { ...snapshotShape(snapshot), ...(shown['snapshot'] as object) },
      } satisfies ActorFrame);
    },
    event(ref, event, sourceId) {
      return JSON.stringify({
        type: '@xstate.event',
        ...common(ref),
        event: eventOf(disclose({ name: event.type, event }), event),
        sourceId,
      } satisfies EventFrame);
    },
    snapshot(ref, event, snapshot) {
      const shown = disclose({ name: event.type, event, snapshot: snapshotData(snapshot) });
      return JSON.stringify({
        type: '@xstate.snapshot',
        ...common(ref),
        event: eventOf(shown, event),
        snapshot: { ...snapshotShape(snapshot), ...(shown['snapshot'] as object) },
      } satisfies SnapshotFrame);
    },
  };
}

interface ReadableSnapshot {
  readonly status?: string;
  readonly value?: unknown;
  readonly context?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
  readonly tags?: ReadonlySet<string>;
  readonly children?: object;
  readonly historyValue?: object;
  readonly supervision?: Supervision;
}

/** Returns what tells where a machine is: its own words only. */
function snapshotShape(snapshot: unknown): object {
  const { status = 'active', value, tags, children, historyValue } = (snapshot ?? {}) as ReadableSnapshot;
  if (value === undefined) return { status };
  return {
    status,
    value,
    tags: [...(tags ?? [])],
    children: Object.fromEntries(Object.keys(children ?? {}).map((id) => [id, { id }])),
    historyValue: Object.fromEntries(Object.keys(historyValue ?? {}).map((id) => [id, []])),
  };
}

/** Returns what has to be disclosed. The table of a supervisor is not: its children are actors of their own. */
function snapshotData(snapshot: unknown): object {
  const { context, output, error, supervision } = (snapshot ?? {}) as ReadableSnapshot;
  if (supervision !== undefined) {
    const { state, restarts, children } = supervision;
    return { context: { state, restarts, children: children.size } };
  }
  return {
    ...(context !== undefined && { context }),
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error }),
  };
}

const definitions = new WeakMap<object, string>();

function definitionOf(ref: AnyActorRef): string {
  const config = configOf(ref);
  if (config === undefined) return JSON.stringify({ id: ref.id });
  let definition = definitions.get(config);
  if (definition === undefined) {
    definition = JSON.stringify(config, withoutCode);
    definitions.set(config, definition);
  }
  return definition;
}

function withoutCode(_key: string, value: unknown): unknown {
  return typeof value === 'function' ? { type: value.name } : value;
}
