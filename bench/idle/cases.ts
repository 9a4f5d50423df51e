import { createGateway } from '../../src/gateway/gateway.ts';
import type { Probe } from '../harness/probe.ts';
import type { Case } from '../harness/suite.ts';

const watchedMs = 4000;

/** A gateway in which nothing happens: sessions that have had a message each, and others that wait for a tool in the midst of one. */
export function idleGateway(idle: number, busy: number): Case {
  return {
    isolated: true,
    long: true,
    once: true,
    async measure(probe) {
      const gateway = createGateway();
      gateway.integration('never', { policy: { maxInFlight: busy } }, () => new Promise(() => undefined));
      await gateway.start();
      let begun = 0;
      for (let index = 0; index < busy; index++) {
        const session = gateway.session(`busy-${index}`, {
          async onMessage(_message, turn) {
            begun++;
            await turn.tool('never', 'wait');
          },
        });
        void session.send({ kind: 'user' });
      }
      const accepted = Array.from({ length: idle }, (_, index) =>
        gateway.session(`idle-${index}`, { onMessage: () => undefined }).send({ kind: 'user' }),
      );
      for (const acceptance of await Promise.all(accepted)) {
        if (!acceptance.accepted) throw new Error('A message was refused');
      }
      await watch(probe);
      if (begun !== busy) throw new Error(`${begun} of ${busy} sessions are busy`);
      await gateway.stop();
    },
  };
}

/** As many objects that wait for something, and nothing else. */
export function idleProcess(count: number): Case {
  return {
    isolated: true,
    long: true,
    once: true,
    async measure(probe) {
      const waiting = Array.from({ length: count }, () => new Promise(() => undefined));
      await watch(probe);
      if (waiting.length !== count) throw new Error('Somebody is missing');
    },
  };
}

/** Looks on for a few seconds. Records the share of one CPU, and the timers before and after. */
async function watch(probe: Probe): Promise<void> {
  // What was put off for a moment is over, and what was allocated is collected.
  await pause(1000);
  probe.record('timers', timers(), '');
  const cpu = process.cpuUsage();
  const start = performance.now();
  await pause(watchedMs);
  const { user, system } = process.cpuUsage(cpu);
  const share = (user + system) / 10 / (performance.now() - start);
  probe.record('cpu', share, '%');
  probe.record('timers, 4 s later', timers(), '');
}

function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
