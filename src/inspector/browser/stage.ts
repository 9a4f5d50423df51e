import { byId, element, tag, toneOf } from './elements.ts';
import { type Actor, chartIds, charts, selectedActor, view } from './view.ts';
import { statesIn, stateText, timeText } from './words.ts';

/** Rows of the context that are shown. */
const maxRows = 40;

/** The chart of the chosen actor with its live state, its last transition and its context. */
export class Stage {
  #shown: string | undefined = undefined;

  constructor() {
    byId('chart').addEventListener('mouseover', ({ target }) => markNear(target as Element));
  }

  draw(): void {
    const actor = selectedActor();
    byId('actor').textContent = actor?.name ?? 'No machine yet';
    const text = actor === undefined ? '' : stateText(actor.snapshot);
    if (byId('state').textContent !== text) byId('state').replaceChildren(...(text === '' ? [] : [tag(text)]));
    byId('since').textContent = actor === undefined || text === '' ? '' : `since ${timeText(actor.since)}`;
    this.#drawChart(actor);
    markLive(actor);
    markTaken(actor);
    drawFacts(actor);
  }

  #drawChart(actor: Actor | undefined): void {
    const chart = view.selected === undefined ? undefined : chartIds.get(view.selected);
    const shown = `${view.selected} ${chart}`;
    if (this.#shown === shown) return;
    this.#shown = shown;
    const svg = chart === undefined ? undefined : charts.get(chart);
    byId('chart').replaceChildren(svg === undefined ? withoutChart(actor) : parsed(svg));
    const drawn = byId('chart').querySelector('svg');
    if (drawn !== null) fit(drawn);
  }
}

function withoutChart(actor: Actor | undefined): Node {
  const text = actor === undefined ? '' : 'A supervisor: it starts the actors below it, and restarts them.';
  return element('p', { textContent: text });
}

function parsed(svg: string): Node {
  return document.importNode(new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement, true);
}

/** As large as there is room for, but legible: what does not fit then is scrolled to. */
function fit({ style, viewBox }: SVGSVGElement): void {
  const { width, height } = viewBox.baseVal;
  style.minWidth = `${0.66 * width}px`;
  style.minHeight = `${0.66 * height}px`;
  style.maxWidth = `${1.3 * width}px`;
  style.maxHeight = `${1.3 * height}px`;
}

function markLive(actor: Actor | undefined): void {
  const live = new Set(statesIn(actor?.snapshot.value));
  for (const state of byId('chart').querySelectorAll<SVGElement>('[data-state]')) {
    const { state: path = '' } = state.dataset;
    state.classList.toggle('live', live.has(path));
    state.dataset['tone'] = toneOf(path.split('.').at(-1) ?? '');
  }
}

function markTaken(actor: Actor | undefined): void {
  const taken = new Set((actor?.edges ?? []).map(String));
  for (const edge of byId('chart').querySelectorAll<SVGElement>('[data-edge]')) {
    const isTaken = taken.has(edge.dataset['edge'] ?? '');
    // Ways to the same state share their lines: the one that was taken is drawn last.
    if (isTaken && edge.tagName === 'path' && !edge.classList.contains('taken')) edge.parentNode?.append(edge);
    edge.classList.toggle('taken', isTaken);
  }
}

function markNear(target: Element): void {
  const row = target.closest<SVGElement>('.row');
  for (const edge of byId('chart').querySelectorAll<SVGElement>('.edge')) {
    edge.classList.toggle('near', row !== null && edge.dataset['edge'] === row.dataset['edge']);
  }
}

function drawFacts(actor: Actor | undefined): void {
  const last = actor?.last;
  const lastWords =
    last === undefined
      ? ['none since this page is open']
      : [element('em', { textContent: last.on }), element('br'), `${last.before} → ${last.after}`];
  byId('last').replaceChildren(...lastWords);
  const { context, output, error } = actor?.snapshot ?? {};
  const rows = Object.entries({ ...flat(context), ...flat(output, 'output.'), ...flat(error, 'error.') });
  const row = ([name, value]: readonly [string, string]): Node =>
    element('div', {}, element('dt', { textContent: name }), element('dd', { textContent: value }));
  byId('context').replaceChildren(...rows.slice(0, maxRows).map(row));
}

/** The leaves of a value, by their paths. */
function flat(value: unknown, above = ''): Record<string, string> {
  const name = above.slice(0, -1);
  if (value === undefined) return {};
  if (typeof value === 'number') return { [name]: String(Math.round(value * 1000) / 1000) };
  if (Array.isArray(value)) return { [name || 'value']: JSON.stringify(value) };
  if (value === null) return { [name || 'value']: 'null' };
  if (typeof value !== 'object') return { [name || 'value']: `${value as string | boolean}` };
  const inner = Object.entries(value).map(([key, each]) => flat(each, `${above}${key}.`));
  return Object.assign({}, ...inner) as Record<string, string>;
}
