// Imports the module of its argument, if any, and prints what that took.
const [url] = process.argv.slice(2);
const { gc } = globalThis;
gc?.();
const heap = process.memoryUsage().heapUsed;
const wall = performance.now();
const cpu = process.cpuUsage();
if (url !== undefined) await import(url);
const { user, system } = process.cpuUsage(cpu);
const wallMs = performance.now() - wall;
gc?.();
const heapBytes = process.memoryUsage().heapUsed - heap;
process.stdout.write(JSON.stringify({ wallMs, cpuMs: (user + system) / 1000, heapBytes }));
