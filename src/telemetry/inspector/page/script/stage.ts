/** The chart of the chosen actor with its live state, its last transition and its context. */
export const stageScript = String.raw`
function drawStage() {
  const actor = actors.get(selected);
  byId('actor').textContent = actor?.name ?? 'No machine yet';
  const text = actor === undefined ? '' : stateText(actor.snapshot);
  if (byId('state').textContent !== text) byId('state').replaceChildren(...(text === '' ? [] : [tag(text)]));
  byId('since').textContent = actor === undefined || text === '' ? '' : 'since ' + timeText(actor.since);
  const chart = chartIds.get(selected);
  if (shownChart !== selected + ' ' + chart) {
    shownChart = selected + ' ' + chart;
    const svg = charts.get(chart);
    byId('chart').replaceChildren(svg === undefined
      ? element('p', { textContent: actor === undefined ? '' : 'A supervisor: it starts the actors below it, and restarts them.' })
      : document.importNode(new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement, true));
    const drawn = byId('chart').querySelector('svg');
    if (drawn !== null) fit(drawn);
  }
  const live = new Set(statesIn(actor?.snapshot.value));
  for (const state of byId('chart').querySelectorAll('[data-state]')) {
    state.classList.toggle('live', live.has(state.dataset.state));
    state.dataset.tone = toneOf(state.dataset.state.split('.').at(-1));
  }
  const taken = new Set((actor?.edges ?? []).map(String));
  for (const edge of byId('chart').querySelectorAll('[data-edge]')) {
    const isTaken = taken.has(edge.dataset.edge);
    // Ways to the same state share their lines: the one that was taken is drawn last.
    if (isTaken && edge.tagName === 'path' && !edge.classList.contains('taken')) edge.parentNode.append(edge);
    edge.classList.toggle('taken', isTaken);
  }
  drawFacts(actor);
}

/** As large as there is room for, but legible: what does not fit then is scrolled to. */
function fit({ style, viewBox: { baseVal: { width, height } } }) {
  Object.assign(style, {
    minWidth: 0.66 * width + 'px', minHeight: 0.66 * height + 'px', maxWidth: 1.3 * width + 'px', maxHeight: 1.3 * height + 'px',
  });
}

function drawFacts(actor) {
  const last = actor?.last;
  byId('last').replaceChildren(...(last === undefined ? ['none since this page is open'] : [
    element('em', { textContent: last.on }), element('br'), last.before + ' → ' + last.after,
  ]));
  const { context, output, error } = actor?.snapshot ?? {};
  const rows = Object.entries({ ...flat(context), ...flat(output, 'output.'), ...flat(error, 'error.') });
  byId('context').replaceChildren(...rows.slice(0, 40).map(([name, value]) =>
    element('div', {}, element('dt', { textContent: name }), element('dd', { textContent: value }))));
}

function flat(value, above = '') {
  if (value === undefined) return {};
  if (typeof value === 'number') return { [above.slice(0, -1)]: String(Math.round(value * 1000) / 1000) };
  if (value === null || typeof value !== 'object') return { [above.slice(0, -1) || 'value']: String(value) };
  if (Array.isArray(value)) return { [above.slice(0, -1) || 'value']: JSON.stringify(value) };
  return Object.assign({}, ...Object.entries(value).map(([key, inner]) => flat(inner, above + key + '.')));
}

byId('chart').addEventListener('mouseover', ({ target }) => {
  const row = target.closest('.row');
  for (const edge of byId('chart').querySelectorAll('.edge')) {
    const isNear = row !== null && edge.dataset.edge === row.dataset.edge;
    edge.classList.toggle('near', isNear);
  }
});
`;
