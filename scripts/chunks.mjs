// Which modules share a file. Who starts pays for each file it loads about what 50 kB of code cost, and for what it loads and does
// not need: modules that the same starts need are together, and files are put together while that saves more than it costs.

/** What a file costs that is loaded, in bytes of code. */
const fileBytes = 50_000;

/** What those modules of Node's own, and of others, cost that take a while to load. */
const builtinBytes = { 'node:child_process': 110_000, 'node:http': 130_000, 'node:net': 80_000, '#xstate': 600_000 };

/** @typedef {{ bytes: number, imports: readonly string[] }} Module - its size, and the ids of what it imports at once. */

/**
 * @typedef {object} Start - what is loaded before anything is done.
 * @property {string} name
 * @property {ReadonlySet<string>} ids - of the modules it loads.
 * @property {number} weight - how much it matters that it is fast.
 * @property {true} [main] - of the entry of the library that all others are loaded beside.
 * @property {string} [room] - of any other entry: the folder that it is for.
 */

/** @typedef {{ bytes: number, ids: Set<string>, builtins: Set<string>, starts: Set<Start> }} Chunk - what is written as one file. */

/**
 * Names of files by module id.
 * @param {ReadonlyMap<string, Module>} modules
 * @param {readonly Start[]} starts
 * @returns {Map<string, string>}
 */
export function planChunks(modules, starts) {
  const chunks = byStarts(modules, starts);
  for (let best = bestPair(modules, chunks); best !== undefined; best = bestPair(modules, chunks)) {
    const [into, from] = best;
    chunks.splice(chunks.indexOf(from), 1);
    into.bytes += from.bytes;
    for (const id of from.ids) into.ids.add(id);
    for (const builtin of from.builtins) into.builtins.add(builtin);
    for (const start of from.starts) into.starts.add(start);
  }
  return new Map(chunks.flatMap(({ ids, starts: users }, index) => [...ids].map((id) => [id, nameFor(users, index)])));
}

function nameFor(users, index) {
  const names = [...users].map(({ name }) => name);
  return names.length > 3 ? `shared${index}` : names.join('-');
}

/** @returns {Chunk[]} */
function byStarts(modules, starts) {
  const chunks = new Map();
  for (const id of new Set(starts.flatMap(({ ids }) => [...ids]))) {
    const users = starts.filter(({ ids }) => ids.has(id));
    const key = users.map(({ name }) => name).join();
    const chunk = chunks.get(key) ?? { bytes: 0, ids: new Set(), builtins: new Set(), starts: new Set(users) };
    chunk.bytes += modules.get(id).bytes;
    chunk.ids.add(id);
    for (const builtin of builtinsOf(modules.get(id))) chunk.builtins.add(builtin);
    chunks.set(key, chunk);
  }
  return [...chunks.values()].sort((a, b) => b.bytes - a.bytes);
}

/** The two chunks by which most is saved, undefined when nothing is. */
function bestPair(modules, chunks) {
  const needs = new Map(chunks.map((chunk) => [chunk, neededBy(modules, chunks, chunk)]));
  let best;
  let most = 0;
  for (const [index, a] of chunks.entries()) {
    for (const b of chunks.slice(index + 1)) {
      const saved = savedBy(modules, a, b);
      if (saved > most && !reaches(needs, a, b) && !reaches(needs, b, a)) {
        best = [a, b];
        most = saved;
      }
    }
  }
  return best;
}

function savedBy(modules, a, b) {
  const both = [...a.starts].filter((start) => b.starts.has(start));
  return both.reduce((sum, { weight }) => sum + weight * fileBytes, 0) - added(modules, a, b) - added(modules, b, a);
}

/** What the second chunk costs those starts that need the first only. */
function added(modules, needed, other) {
  const users = [...other.starts];
  const hasPurpose =
    users.every(({ main }) => main !== true) &&
    users.some(({ room }) => room !== undefined && [...other.ids].some((id) => id.startsWith(`${room}/`)));
  let cost = 0;
  for (const start of needed.starts) {
    if (other.starts.has(start)) continue;
    // What one entry is for is not for who imports another.
    if (hasPurpose && (start.main === true || start.room !== undefined)) return Infinity;
    const loaded = new Set([...start.ids].flatMap((id) => builtinsOf(modules.get(id))));
    const builtins = [...other.builtins].filter((name) => !loaded.has(name));
    cost += start.weight * builtins.reduce((sum, name) => sum + builtinBytes[name], other.bytes);
  }
  return cost;
}

function builtinsOf({ imports }) {
  return imports.filter((name) => Object.hasOwn(builtinBytes, name));
}

/** The other chunks that hold what the modules of one import. */
function neededBy(modules, chunks, chunk) {
  const imports = new Set([...chunk.ids].flatMap((id) => modules.get(id).imports));
  return chunks.filter((other) => other !== chunk && [...other.ids].some((id) => imports.has(id)));
}

/** Whether one chunk needs the other by way of a third, which would then need itself once the two are one. */
function reaches(needs, from, to) {
  const seen = new Set(needs.get(from).filter((chunk) => chunk !== to));
  for (const chunk of seen) for (const next of needs.get(chunk)) seen.add(next);
  return seen.has(to);
}
