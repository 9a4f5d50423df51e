import type { Frame } from '../frames.ts';
import { byId } from './elements.ts';
import { applyFilter, listenToFilter } from './eventList.ts';
import { Stage } from './stage.ts';
import { takeFrame } from './takeFrame.ts';
import { Tree } from './tree.ts';
import { actors, chartIds, view } from './view.ts';

/** Frames that are kept while the page is paused; then the stream is let go. */
const maxWaiting = 20_000;

const tree = new Tree((sessionId) => choose(sessionId));
const stage = new Stage();
const waiting: Frame[] = [];
let isPaused = false;
let isDirty = false;
let source: EventSource | undefined;

listenToFilter();
byId('pause').addEventListener('click', () => pause(!isPaused));
document.addEventListener('keydown', ({ key, ctrlKey, metaKey, altKey, target }) => {
  if (key !== 'p' || ctrlKey || metaKey || altKey || target instanceof HTMLInputElement) return;
  pause(!isPaused);
});
connect();

/** Draws the page in the next frame of the screen, however much comes until then. */
function drawLater(): void {
  if (isDirty) return;
  isDirty = true;
  requestAnimationFrame(() => {
    isDirty = false;
    chooseMachine();
    tree.draw();
    stage.draw();
  });
}

function choose(sessionId: string): void {
  view.selected = sessionId;
  view.isChosenByHand = true;
  applyFilter();
  drawLater();
}

/** Until the person chooses, an integration is shown, or else the first machine. */
function chooseMachine(): void {
  if (view.isChosenByHand || (view.selected !== undefined && chartIds.has(view.selected))) return;
  const machines = [...actors.values()].filter((actor) => chartIds.has(actor.sessionId) && !actor.over);
  const integration = machines.find((actor) => actor.name.startsWith('integration:'));
  view.selected = (integration ?? machines[0])?.sessionId ?? view.selected;
}

function connect(): void {
  const made = new EventSource(`/events${location.search}`);
  source = made;
  made.onopen = showLinked;
  made.onerror = () => {
    if (made.readyState === EventSource.CLOSED) link('refused', 'refused: too many viewers, or the gateway is gone');
    else link('lost', 'connection lost, trying again');
  };
  made.onmessage = ({ data }: MessageEvent<string>) => {
    const frame = JSON.parse(data) as Frame;
    if (isPaused) {
      waiting.push(frame);
      link('paused', `paused, ${waiting.length} behind`);
      if (waiting.length >= maxWaiting) made.close();
      return;
    }
    take(frame);
    drawLater();
  };
}

function take(frame: Frame): void {
  takeFrame(frame, () => {
    source?.close();
    link('ended', 'ended');
  });
}

function pause(on: boolean): void {
  isPaused = on;
  byId('pause').setAttribute('aria-pressed', String(on));
  byId('pause').textContent = on ? 'Resume' : 'Pause';
  if (source?.readyState === EventSource.OPEN) showLinked();
  if (on) return;
  for (const frame of waiting.splice(0)) take(frame);
  // It was let go while so much was waiting.
  if (source?.readyState === EventSource.CLOSED && byId('link').dataset['link'] === 'paused') connect();
  drawLater();
}

function showLinked(): void {
  const state = isPaused ? 'paused' : 'live';
  link(state, state);
}

function link(state: string, text: string): void {
  byId('link').dataset['link'] = state;
  const words = byId('link').lastChild;
  if (words !== null) words.textContent = text;
}
