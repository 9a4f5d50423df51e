// Measures the process that it is loaded into: `node --expose-gc --import probe.mjs PROGRAM`. Every SOAK_EVERY_MS a line of JSON is appended to SOAK_PROBE,
// and nothing of it holds the process. Children do not inherit it.
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';

const { SOAK_PROBE: file, SOAK_EVERY_MS: every } = process.env;
delete process.env.SOAK_PROBE;
delete process.env.SOAK_EVERY_MS;

const counted = (list, is) => list.filter(is).length;

/** Children of the process, whichever of its threads has started them. */
function children() {
  const tasks = readdirSync('/proc/self/task');
  return tasks.flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, 'utf8').split(' ')).filter(Boolean);
}

function sample() {
  const resources = process.getActiveResourcesInfo();
  const isTimer = (name) => name === 'Timeout' || name === 'Immediate';
  globalThis.gc();
  const { heapUsed, rss, external } = process.memoryUsage();
  return {
    at: Date.now(),
    heap: heapUsed,
    external,
    rss,
    descriptors: readdirSync('/proc/self/fd').length - 1,
    timers: counted(resources, isTimer),
    handles: counted(resources, (name) => !isTimer(name)),
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
    children: children().length,
  };
}

if (file !== undefined)
  setInterval(() => appendFileSync(file, `${JSON.stringify(sample())}\n`), Number(every ?? 5000)).unref();
