/** The stream of frames, the pause, and when the page is drawn. */
export const linkScript = String.raw`
function later() {
  if (dirty) return;
  dirty = true;
  requestAnimationFrame(() => {
    dirty = false;
    if (!chosenByHand && chartIds.get(selected) === undefined) {
      const machines = [...actors.values()].filter((actor) => chartIds.has(actor.sessionId) && !actor.over);
      selected = (machines.find((actor) => actor.name.startsWith('integration:')) ?? machines[0])?.sessionId ?? selected;
    }
    drawTree();
    drawStage();
  });
}

function link(state, text) {
  byId('link').dataset.link = state;
  byId('link').lastChild.textContent = text;
}

function pause(on) {
  paused = on;
  byId('pause').setAttribute('aria-pressed', String(on));
  byId('pause').textContent = on ? 'Resume' : 'Pause';
  if (source.readyState === EventSource.OPEN) linked();
  if (on) return;
  for (const frame of waiting.splice(0)) take(frame);
  // It was let go while so much was waiting.
  if (source.readyState === EventSource.CLOSED && byId('link').dataset.link === 'paused') connect();
  later();
}

byId('pause').addEventListener('click', () => pause(!paused));
document.addEventListener('keydown', (event) => {
  if (event.key !== 'p' || event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === 'INPUT') return;
  pause(!paused);
});

const linked = () => link(paused ? 'paused' : 'live', paused ? 'paused' : 'live');
let source;
function connect() {
  source = new EventSource('/events' + location.search);
  source.onopen = linked;
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) link('refused', 'refused: too many viewers, or the gateway is gone');
    else link('lost', 'connection lost, trying again');
  };
  source.onmessage = ({ data }) => {
    const frame = JSON.parse(data);
    if (paused) {
      waiting.push(frame);
      link('paused', 'paused, ' + waiting.length + ' behind');
      if (waiting.length >= maxWaiting) source.close();
      return;
    }
    take(frame);
    later();
  };
}
connect();
`;
