import { EventEmitter } from 'eventemitter3';
import { createFactRedactor } from '../../src/redaction/redactFact.ts';
import { factTypes } from '../../src/policy/facts/factTypes.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import { createBus } from '../../src/telemetry/bus.ts';
import type { Case } from '../harness/suite.ts';
import { succeeded } from './facts.ts';

const told = 300_000;

/** Tells a fact to so many subscribers, as a gateway does: asked for first, with its time, without secrets. */
export function tellByBus(subscribers: number): Case {
  return {
    async measure(probe) {
      const bus = createBus({ clock: systemClock, types: factTypes, redact: createFactRedactor() });
      let heard = 0;
      for (let index = 0; index < subscribers; index++) bus.on('call.succeeded', () => heard++);
      await probe.time('event', told, () => {
        for (let index = 0; index < told; index++) {
          if (bus.wants('call.succeeded')) bus.tell({ ...succeeded });
        }
      });
      bus.close();
      if (heard !== told * subscribers) throw new Error(`Heard ${heard} of ${told * subscribers}`);
    },
  };
}

/** The same by the emitter alone. */
export function tellByEmitter(subscribers: number): Case {
  return {
    async measure(probe) {
      const emitter = new EventEmitter<{ 'call.succeeded': (fact: object) => void }>();
      let heard = 0;
      for (let index = 0; index < subscribers; index++) emitter.on('call.succeeded', () => heard++);
      await probe.time('event', told, () => {
        for (let index = 0; index < told; index++) emitter.emit('call.succeeded', { ...succeeded });
      });
      if (heard !== told * subscribers) throw new Error(`Heard ${heard} of ${told * subscribers}`);
    },
  };
}
