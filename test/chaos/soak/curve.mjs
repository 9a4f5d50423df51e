/** Units and what a curve may rise by over the whole time that is judged: two parts in a hundred of its level, and so much more. */
export const quantities = {
  heap: { title: 'heap after a collection', unit: 'MB', per: 1e6, allowed: 1.5e6 },
  external: { title: 'memory outside of the heap', unit: 'MB', per: 1e6, allowed: 6e6 },
  rss: { title: 'resident memory', unit: 'MB', per: 1e6, allowed: 25e6 },
  descriptors: { title: 'open descriptors', unit: '', per: 1, allowed: 2.5 },
  timers: { title: 'timers', unit: '', per: 1, allowed: 5 },
  handles: { title: 'other handles', unit: '', per: 1, allowed: 4 },
  listeners: { title: 'listeners of the process', unit: '', per: 1, allowed: 1.5 },
  children: { title: 'children', unit: '', per: 1, allowed: 1.5 },
  files: { title: 'files', unit: '', per: 1, allowed: 3 },
  bytes: { title: 'bytes of files', unit: 'MB', per: 1e6, allowed: 4e6 },
};
const relative = 0.02;
/** Parts of the time of which the floor is taken. */
const groups = 20;

/**
 * Judges curves from a part of their time on.
 * @param {{name: string, samples: {at: number}[]}[]} curves
 * @returns {{name: string, quantity: string, level: number, rise: number, allowed: number, rises: boolean, text: string}[]}
 */
export function judgeCurves(curves, warmPart) {
  return curves.flatMap(({ name, samples }) => {
    const first = samples[0]?.at ?? 0;
    const from = first + ((samples.at(-1)?.at ?? 0) - first) * warmPart;
    const judged = samples.filter(({ at }) => at >= from);
    return Object.keys(quantities)
      .filter((quantity) => judged[0]?.[quantity] !== undefined)
      .map((quantity) => judgeCurve(name, quantity, judged));
  });
}

/**
 * Judges the floor of a curve: what is held while little is under way. It rises if the line through it does (the median of the slopes between all pairs), or if
 * its last quarter lies above its first.
 */
function judgeCurve(name, quantity, samples) {
  const points = floorOf(samples.map((sample) => [sample.at, sample[quantity]]));
  const { title, unit, per, allowed: more } = quantities[quantity];
  const values = points.map(([, value]) => value);
  const level = median(values);
  const span = (points.at(-1)?.[0] ?? 0) - (points[0]?.[0] ?? 0);
  const quarter = Math.max(1, Math.floor(values.length / 4));
  const stepped = median(values.slice(-quarter)) - median(values.slice(0, quarter));
  const rise = Math.max(slopeOf(points) * span, stepped);
  const allowed = level * relative + more;
  const shown = (value) => `${Math.round((value / per) * 100) / 100}${unit && ` ${unit}`}`;
  const text = `${name}: ${title} rises by ${shown(rise)} from a level of ${shown(level)}, and may by ${shown(allowed)}`;
  return { name, quantity, level, rise, allowed, rises: rise > allowed, text };
}

/** The least of each group of neighbours: a busy moment holds more, and what leaks is never given back. */
function floorOf(points) {
  const size = Math.max(1, Math.floor(points.length / groups));
  return Array.from({ length: Math.floor(points.length / size) }, (_, index) => {
    const group = points.slice(index * size, (index + 1) * size);
    return group.reduce((least, point) => (point[1] < least[1] ? point : least));
  });
}

/** The line of Theil and Sen: a few wild points do not turn it. @returns what it rises by in one unit of time. */
export function slopeOf(points) {
  const slopes = points.flatMap(([at, value], index) =>
    points.slice(index + 1).map(([later, other]) => (other - value) / (later - at)),
  );
  return slopes.length === 0 ? 0 : median(slopes);
}

export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
