import { median, quantities } from './curve.mjs';

/** Colours that stay apart on white, also for who sees fewer of them. */
const colours = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#8c6d00', '#56b4e9', '#5f4690', '#444444'];
const panel = { width: 440, height: 170, left: 52, right: 14, top: 30, bottom: 30 };
const columns = 2;
const margin = 24;
const head = 84;
/** Points of a curve at most: one for every fourth dot. */
const mostPoints = 90;

/** The curves of a soak, a panel for each quantity. @param {import('./soak.d.mts').SoakReport} report @returns {string} an SVG */
export function soakPicture({ minutes, seed, curves, warmPart }) {
  const shown = Object.keys(quantities).filter((quantity) =>
    curves.some(({ samples }) => samples[0]?.[quantity] !== undefined),
  );
  const width = 2 * margin + columns * panel.width;
  const height = head + Math.ceil(shown.length / columns) * panel.height + margin;
  const begin = Math.min(...curves.map(({ samples }) => samples[0]?.at ?? Infinity));
  const panels = shown.map((quantity, index) => {
    const x = margin + (index % columns) * panel.width;
    const y = head + Math.floor(index / columns) * panel.height;
    return `<g transform="translate(${x} ${y})">${panelOf(quantity, { curves, begin, minutes, warmPart })}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif" font-size="11" fill="#333">
<title>What a gateway with everything on, and the programs beside it, hold in ${minutes} minutes</title>
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="${margin}" y="28" font-size="15" font-weight="600" fill="#111">${minutes} minutes with everything on: what each program holds</text>
<text x="${margin}" y="46">npm run soak -- --minutes ${minutes} --seed ${seed}. Behind the dotted line (after ${round(minutes * warmPart)} min) no curve may rise.</text>
${legend(curves)}
${panels.join('\n')}
</svg>
`;
}

function legend(curves) {
  let x = margin;
  return curves
    .map(({ name }, index) => {
      const at = x;
      x += 34 + name.length * 7;
      return `<rect x="${at}" y="60" width="14" height="4" fill="${colours[index % colours.length]}"/><text x="${at + 19}" y="66">${name}</text>`;
    })
    .join('');
}

function panelOf(quantity, { curves, begin, minutes, warmPart }) {
  const { title, unit, per } = quantities[quantity];
  const lines = curves.map(({ samples }) =>
    thinned(
      samples.flatMap((sample) =>
        sample[quantity] === undefined ? [] : [[(sample.at - begin) / 60_000, sample[quantity] / per]],
      ),
    ),
  );
  const { step, most } = scaleOf(Math.max(...lines.flat().map(([, value]) => value), 1));
  const inner = { width: panel.width - panel.left - panel.right, height: panel.height - panel.top - panel.bottom };
  const x = (minute) => round(panel.left + (minute / minutes) * inner.width);
  const y = (value) => round(panel.top + (1 - value / most) * inner.height);
  const ticks = Array.from({ length: Math.round(most / step) + 1 }, (_, index) => round(index * step));
  const rules = ticks.map(
    (tick) =>
      `<line x1="${panel.left}" x2="${panel.width - panel.right}" y1="${y(tick)}" y2="${y(tick)}" stroke="#e4e4e4"/>` +
      `<text x="${panel.left - 6}" y="${y(tick) + 4}" text-anchor="end">${tick}</text>`,
  );
  const times = Array.from({ length: 7 }, (_, index) => round((minutes * index) / 6));
  const below = times.map(
    (time) => `<text x="${x(time)}" y="${panel.height - 14}" text-anchor="middle">${time}</text>`,
  );
  const paths = lines.map((points, index) =>
    points.length === 0
      ? ''
      : `<path fill="none" stroke="${colours[index % colours.length]}" stroke-width="1.3" d="${lineThrough(points.map(([minute, value]) => [x(minute), y(value)]))}"/>`,
  );
  const warm = x(minutes * warmPart);
  return [
    `<text x="${panel.left}" y="18" font-weight="600" fill="#111">${title}${unit && `, ${unit}`}</text>`,
    ...rules,
    ...below,
    `<text x="${panel.width - panel.right}" y="${panel.height - 2}" text-anchor="end">minutes</text>`,
    `<line x1="${warm}" x2="${warm}" y1="${panel.top}" y2="${panel.height - panel.bottom}" stroke="#999" stroke-dasharray="2 3"/>`,
    ...paths,
  ].join('\n');
}

/** Draws from each point to the next by whole dots: the picture is part of the package. */
function lineThrough(points) {
  const dots = points.map((point) => point.map(Math.round));
  const steps = dots.slice(1).map(([x, y], index) => `${x - dots[index][0]} ${y - dots[index][1]}`);
  return `M${dots[0].join(' ')}l${steps.join(' ')}`.replaceAll(' -', '-');
}

/** Of many points the medians of as many groups as there is room for. */
function thinned(points) {
  const size = Math.ceil(points.length / mostPoints);
  return Array.from({ length: Math.ceil(points.length / size) || 0 }, (_, index) => {
    const group = points.slice(index * size, (index + 1) * size);
    return [0, 1].map((place) => median(group.map((point) => point[place])));
  });
}

/** Three to six steps of 1, 2 or 5 and zeros. */
function scaleOf(value) {
  const rough = value / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10);
  return { step, most: Math.ceil(value / step) * step };
}

const round = (value) => Math.round(value * 10) / 10;
