// Imports the module of its first argument, makes a gateway and the first call of it if the second one is `call`, and prints what that took.
const [url, then] = process.argv.slice(2);
const { gc } = globalThis;
gc?.();
const heap = process.memoryUsage().heapUsed;
const wall = performance.now();
const cpu = process.cpuUsage();
const loaded = (url === undefined ? undefined : await import(url)) as typeof import('../../src/index.ts') | undefined;
if (then === 'call' && loaded !== undefined) {
  const gateway = loaded.createGateway({ store: ':memory:' });
  const echo = gateway.integration('echo', {}, (value: number) => Promise.resolve(value));
  await gateway.start();
  await echo.call(1);
}
const { user, system } = process.cpuUsage(cpu);
const wallMs = performance.now() - wall;
gc?.();
const heapBytes = process.memoryUsage().heapUsed - heap;
process.stdout.write(JSON.stringify({ wallMs, cpuMs: (user + system) / 1000, heapBytes }));
process.exit();
