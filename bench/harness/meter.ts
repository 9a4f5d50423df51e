/** What the machine says of time and memory; a fake one in tests. */
export interface Meter {
  /** Monotonic wall time in µs. */
  wallUs(): number;
  /** CPU time in µs of this process, all its threads: the collector and the compiler are part of what something costs. */
  cpuUs(): number;
  /** Bytes of live objects, once the collector has run. */
  heapBytes(): number;
  /** Bytes of objects, dead ones that were not collected yet included: what was allocated, as long as nothing is collected. */
  usedBytes(): number;
  /** Lets the collector run, so that nobody pays for the garbage of another. */
  collect(): void;
}

/** The meter of this process. @throws Error when the process was started without `--expose-gc` */
export function processMeter(): Meter {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error('The benchmark needs node --expose-gc');
  const collect = (): void => {
    gc();
  };
  return {
    wallUs: () => performance.now() * 1000,
    cpuUs() {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    heapBytes() {
      // Twice: what weak references and finalizers held goes with the second.
      collect();
      collect();
      return process.memoryUsage().heapUsed;
    },
    usedBytes: () => process.memoryUsage().heapUsed,
    collect,
  };
}
