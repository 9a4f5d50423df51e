import { afterEach, beforeEach, expect, it, vi } from 'vitest';

/** The stream of a page, which gets what it is given. */
class Stream {
  static readonly CLOSED = 2;
  static all: Stream[] = [];
  readyState = 1;
  onopen = (): void => undefined;
  onmessage: (message: { readonly data: string }) => void = () => undefined;

  constructor() {
    Stream.all.push(this);
  }

  close(): void {
    this.readyState = Stream.CLOSED;
  }

  tell(frame: object): void {
    if (this.readyState !== Stream.CLOSED) this.onmessage({ data: JSON.stringify(frame) });
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  Stream.all = [];
  vi.stubGlobal('EventSource', Stream);
  vi.stubGlobal('location', { search: '?token=t' });
  vi.stubGlobal('requestAnimationFrame', (draw: () => void) => draw());
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

interface Inspected {
  readonly actors: ReadonlyMap<string, object>;
  readonly happenings: { readonly value: readonly { readonly text: string }[] };
  inspect(): void;
}

interface Live {
  pause(on: boolean): void;
}

/** By their names: their types are those of a browser. */
const load = (name: string): Promise<unknown> =>
  import(new URL(`../../../../web/dashboard/browser/${name}`, import.meta.url).pathname);

async function opened() {
  const [page, live] = [(await load('inspected.ts')) as Inspected, (await load('live.ts')) as Live];
  page.inspect();
  return { page, live, stream: (): Stream => Stream.all.at(-1) as Stream };
}

const actor = {
  ...{
    type: '@xstate.actor',
    sessionId: 'x:1',
    name: 'integration:kb',
    createdAt: '1',
    definition: '{"id":"integration","states":{}}',
  },
  snapshot: { status: 'active', value: 'idle' },
};
const event = { type: '@xstate.event', sessionId: 'x:1', event: { type: 'call.came' }, createdAt: '2' };

it('[O-6] a page that was paused for too long lets its stream go, and says that it missed something', async () => {
  const { page, live, stream } = await opened();
  stream().tell(actor);
  live.pause(true);
  const first = stream();
  for (let frames = 0; frames < 30_000; frames++) first.tell(event);
  expect(first.readyState).toBe(Stream.CLOSED);
  expect(page.happenings.value).toEqual([]);
  live.pause(false);
  expect(Stream.all).toHaveLength(2);
  stream().tell(event);
  const texts = page.happenings.value.map(({ text }) => text);
  expect(texts.slice(0, 3)).toEqual(['call.came', expect.stringContaining('is missed'), 'call.came']);
});

it('[O-6] frames of a gateway of another version, with what is not known here or without it, are no fault of the page', async () => {
  const { page, stream } = await opened();
  for (const frame of [actor, event, { type: 'unwedge.chart', svg: '<svg/>' }]) stream().tell(frame);
  for (let times = 0; times < 2; times++) stream().tell({ type: 'unwedge.transition', sessionId: 'x:1', edges: [3] });
  expect(page.actors.get('x:1')).toMatchObject({ name: 'integration:kb', taken: [], isFresh: false });
});
