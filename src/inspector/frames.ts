import type { ChartTransition } from './chart.ts';

interface OfficialFrame {
  readonly sessionId: string;
  readonly rootId: string;
  /** Wall time in ms, as text. */
  readonly createdAt: string;
  readonly id: null;
  readonly _version: string;
}

/** An actor is there. */
export interface ActorFrame extends OfficialFrame {
  readonly type: '@xstate.actor';
  readonly name: string;
  readonly parentId: string | undefined;
  /** The configuration of its machine as JSON, functions as their names. */
  readonly definition: string;
  readonly snapshot: unknown;
}

/** An actor is sent an event. */
export interface EventFrame extends OfficialFrame {
  readonly type: '@xstate.event';
  readonly event: unknown;
  /** The actor that sent it; undefined for what comes from outside of those that are shown. */
  readonly sourceId: string | undefined;
}

/** Snapshot that an actor made of an event. */
export interface SnapshotFrame extends OfficialFrame {
  readonly type: '@xstate.snapshot';
  readonly event: unknown;
  readonly snapshot: unknown;
}

/** Frames that the page of this project understands, beside the official ones. */
export type OwnFrame =
  /** Begins a stream; what was known before is void. */
  | { readonly type: 'unwedge.hello'; readonly name: string; readonly pid: number }
  /** Transitions that an actor takes, as its chart has them. */
  | { readonly type: 'unwedge.transition'; readonly sessionId: string; readonly taken: readonly ChartTransition[] }
  /** The viewer was too slow, and so many frames were left out; what is there now follows. */
  | { readonly type: 'unwedge.gap'; readonly missed: number }
  /** So many actors are there and not shown: they are too many. */
  | { readonly type: 'unwedge.more'; readonly actors: number }
  /** Nothing more will come: the gateway has stopped. */
  | { readonly type: 'unwedge.end' };

/** Frames of the wire format of `@statelyai/inspect`, and our own. On the wire each is JSON with its type first. */
export type Frame = ActorFrame | EventFrame | SnapshotFrame | OwnFrame;

/** Tells whether the official inspector knows a frame, given as JSON. */
export function isOfficial(frame: string): boolean {
  return frame.startsWith('{"type":"@xstate.');
}

/** The frame that ends a stream, as JSON. */
export const endFrame = JSON.stringify({ type: 'unwedge.end' } satisfies Frame);
