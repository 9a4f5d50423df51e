/** A snapshot as a frame has it. */
export interface ShownSnapshot {
  readonly status?: string;
  readonly value?: unknown;
  readonly context?: unknown;
  readonly output?: unknown;
  readonly error?: unknown;
}

/** An event in the list. */
export interface ListedEvent {
  readonly type: string;
  /** Receives what its actor made of it. */
  became(before: string, after: string): void;
}

/** An actor as the page knows it. */
export interface Actor {
  readonly sessionId: string;
  readonly name: string;
  readonly parentId: string | undefined;
  snapshot: ShownSnapshot;
  /** It has ended, or its gateway has been lost sight of. */
  over: boolean;
  /** Wall time of its last change of state, in ms. */
  since: number;
  /** Transitions it took for its last event, by their places in its chart. */
  edges: readonly number[];
  /** An event came, and no transition of it yet. */
  fresh: boolean;
  event: ListedEvent | undefined;
  last: { readonly before: string; readonly after: string; readonly on: string } | undefined;
}

export const actors = new Map<string, Actor>();
/** Drawings by their numbers, and the numbers of the actors' drawings. */
export const charts = new Map<number, string>();
export const chartIds = new Map<string, number>();

/** Selection that the person looks at. */
export const view: { selected: string | undefined; isChosenByHand: boolean } = {
  selected: undefined,
  isChosenByHand: false,
};

export function selectedActor(): Actor | undefined {
  return view.selected === undefined ? undefined : actors.get(view.selected);
}
