import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Fact, FactOf, Told } from '../../src/policy/facts/facts.ts';
import { KnownSecrets } from '../../src/redaction/knownSecrets.ts';
import { createFactRedactor } from '../../src/redaction/redactFact.ts';
import { createBus } from '../../src/telemetry/bus.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

const closed: Fact = { type: 'breaker.closed', integration: 'kb' };
const halfOpened: Fact = { type: 'breaker.half_opened', integration: 'kb' };

const types = ['breaker.closed', 'breaker.half_opened', 'call.failed', 'listener.failed'] as const;

function startBus() {
  const clock = new SimulatedClock();
  const lines: string[] = [];
  const line = (message: string) => void lines.push(message);
  const bus = createBus({ clock, logger: { debug: line, info: line, warn: line, error: line } });
  const strict = createBus({ clock, types });
  const heard: string[] = [];
  const hear = (name: string) => (fact: Told<Fact>) => void heard.push(`${name} ${fact.type}`);
  return { clock, lines, bus, strict, heard, hear };
}

describe('the bus', () => {
  it('[O-4] tells a fact to the listeners of its type and of all types, with the wall time', () => {
    const { bus, clock } = startBus();
    const facts: Told<Fact>[] = [];
    bus.on('breaker.closed', (fact) => facts.push(fact));
    bus.on('*', (fact) => facts.push(fact));
    bus.on('breaker.half_opened', (fact) => facts.push(fact));
    bus.tell(closed);
    const told = { ...closed, at: clock.wallNow() };
    expect(facts).toEqual([told, told]);
  });

  it('[U-3] types what a listener hears', () => {
    const { bus } = startBus();
    bus.on('breaker.opened', (fact) => expectTypeOf(fact).toEqualTypeOf<Told<FactOf<'breaker.opened'>>>());
    bus.on('*', (fact) => expectTypeOf(fact).toEqualTypeOf<Told<Fact>>());
    expectTypeOf(bus.wait('breaker.opened', { signal: AbortSignal.abort() }).catch(() => undefined)).resolves.toExtend<
      FactOf<'breaker.opened'> | undefined
    >();
  });

  it('stops telling a listener that was removed, in either way', () => {
    const { bus, heard, hear } = startBus();
    const remove = bus.on('breaker.closed', hear('a'));
    const listener = hear('b');
    bus.on('breaker.closed', listener);
    bus.on('breaker.closed', listener);
    bus.tell(closed);
    remove();
    bus.off('breaker.closed', listener);
    bus.tell(closed);
    expect(heard).toEqual(['a breaker.closed', 'b breaker.closed', 'b breaker.closed']);
  });

  it('tells a once-listener once, even when it tells the same again', () => {
    const { bus, heard, hear } = startBus();
    bus.once('breaker.closed', (fact) => {
      hear('a')(fact);
      bus.tell(closed);
    });
    bus.tell(closed);
    expect(heard).toEqual(['a breaker.closed']);
  });

  it('knows whether anybody listens', () => {
    const { bus } = startBus();
    expect(bus.wants('call.succeeded')).toBe(false);
    const removeOne = bus.on('call.succeeded', () => undefined);
    expect([bus.wants('call.succeeded'), bus.wants('call.retried')]).toEqual([true, false]);
    removeOne();
    const removeAll = bus.on('*', () => undefined);
    expect(bus.wants('call.retried')).toBe(true);
    removeAll();
    expect(bus.wants('call.retried')).toBe(false);
  });

  it('does not tell a listener that another removes while telling', () => {
    const { bus, heard, hear } = startBus();
    const second = hear('second');
    bus.on('breaker.closed', () => bus.off('breaker.closed', second));
    bus.on('breaker.closed', second);
    bus.on('breaker.closed', hear('third'));
    bus.tell(closed);
    expect(heard).toEqual(['third breaker.closed']);
  });

  it('tells a listener added while telling from the next fact on', () => {
    const { bus, heard, hear } = startBus();
    bus.once('breaker.closed', () => bus.on('breaker.closed', hear('new')));
    bus.tell(closed);
    expect(heard).toEqual([]);
    bus.tell(closed);
    expect(heard).toEqual(['new breaker.closed']);
  });

  it('names a listener that is no function', () => {
    const { bus } = startBus();
    // @ts-expect-error no listener
    expect(() => bus.on('breaker.closed', 'log')).toThrow('Expected `listener` to be a function, got "log"');
  });
});

describe('a failing listener', () => {
  const boom = () => {
    throw new Error('boom');
  };

  it('[O-4] keeps no fact from the others', () => {
    const { bus, heard, hear } = startBus();
    bus.on('breaker.closed', boom);
    bus.on('breaker.closed', hear('typed'));
    bus.on('*', hear('all'));
    bus.tell(closed);
    expect(heard).toContain('typed breaker.closed');
    expect(heard).toContain('all breaker.closed');
  });

  it('[I-4] is told as listener.failed, and logged', () => {
    const { bus, lines } = startBus();
    const failures: Told<FactOf<'listener.failed'>>[] = [];
    bus.on('listener.failed', (fact) => failures.push(fact));
    bus.on('breaker.closed', boom);
    bus.tell(closed);
    expect(failures).toMatchObject([
      { event: 'breaker.closed', error: 'boom', stack: expect.stringContaining('boom') as string },
    ]);
    expect(lines).toEqual(['A listener of breaker.closed failed: boom']);
  });

  it('[I-4] is told as listener.failed when it rejects', async () => {
    const { bus, clock } = startBus();
    const errors: string[] = [];
    bus.on('listener.failed', ({ error }) => errors.push(error));
    bus.on('breaker.closed', async () => boom());
    bus.on('breaker.closed', () => ({ then: boom }));
    bus.tell(closed);
    await clock.settle();
    expect(errors).toEqual(['boom', 'boom']);
  });

  it('[O-4] is not told to itself for ever', async () => {
    const { bus, clock, lines } = startBus();
    bus.on('listener.failed', boom);
    bus.on('*', async () => boom());
    bus.tell(closed);
    await clock.settle();
    expect(lines.length).toBeLessThan(10);
  });

  it('[I-4] hurts nobody when the logger throws too', () => {
    const bus = createBus({
      clock: new SimulatedClock(),
      logger: { debug: boom, info: boom, warn: boom, error: boom },
    });
    bus.on('breaker.closed', boom);
    expect(() => bus.tell(closed)).not.toThrow();
  });
});

describe('a listener that fails again and again', () => {
  const fails = (count: number) => {
    let calls = 0;
    const listener = () => {
      if (++calls <= count) throw new Error('boom');
    };
    return { listener, calls: () => calls };
  };

  it.each(['breaker.closed', '*'] as const)(
    '[O-4] is removed from %s at its tenth failure in a row, and that is told',
    (type) => {
      const { bus, lines } = startBus();
      const removed: unknown[] = [];
      bus.on('listener.removed', ({ event, failures, error }) => removed.push({ event, failures, error }));
      let calls = 0;
      bus.on(type, (fact) => {
        if (fact.type !== 'breaker.closed') return;
        calls++;
        throw new Error('boom');
      });
      for (let told = 0; told < 9; told++) bus.tell(closed);
      expect(removed).toEqual([]);
      for (let told = 0; told < 5; told++) bus.tell(closed);
      expect([calls, removed]).toEqual([10, [{ event: type, failures: 10, error: 'boom' }]]);
      expect(lines).toContain(`A listener of ${type} failed 10 times in a row and was removed`);
    },
  );

  it('[O-4] stays when it went well in between', () => {
    const { bus } = startBus();
    const { listener, calls } = fails(9);
    bus.on('breaker.closed', listener);
    for (let told = 0; told < 10; told++) bus.tell(closed);
    bus.on('breaker.closed', fails(9).listener);
    for (let told = 0; told < 20; told++) bus.tell(closed);
    expect(calls()).toBe(30);
  });

  it('[O-4] is removed when it rejects ten times in a row', async () => {
    const { bus, clock } = startBus();
    let calls = 0;
    bus.on('breaker.closed', async () => {
      calls++;
      throw new Error('boom');
    });
    for (let told = 0; told < 12; told++) {
      bus.tell(closed);
      await clock.settle();
    }
    expect(calls).toBe(10);
  });

  it('[O-4] ends when it listens to all, the news of failing included', () => {
    const { bus } = startBus();
    let calls = 0;
    bus.on('*', () => {
      calls++;
      throw new Error('boom');
    });
    for (let told = 0; told < 12; told++) bus.tell(closed);
    expect(calls).toBe(10);
  });
});

describe('a name that is no event', () => {
  it('[U-3] is refused with the nearest there is, wherever one is given', () => {
    const { strict } = startBus();
    const wrong = 'call.faild' as 'call.failed';
    const listener = (): void => undefined;
    const message = 'Unknown event `call.faild`; did you mean call.failed?';
    expect(() => strict.on(wrong, listener)).toThrow(new RangeError(message));
    expect(() => strict.once(wrong, listener)).toThrow(message);
    expect(() => strict.off(wrong, listener)).toThrow(message);
    expect(() => strict.wait(wrong)).toThrow(message);
    expect(() => strict.events({ types: ['call.failed', wrong] })).toThrow(message);
  });

  it('[U-3] is refused without a guess where none is near, and where it is no text', () => {
    const { strict } = startBus();
    expect(() => strict.on('zzz' as 'call.failed', () => undefined)).toThrow(/^Unknown event `zzz`$/);
    expect(() => strict.on(7 as unknown as 'call.failed', () => undefined)).toThrow(TypeError);
  });

  it('[U-3] is the star where one type is waited for, and nowhere else', () => {
    const { strict } = startBus();
    const star = '*' as 'call.failed';
    expect(() => strict.wait(star)).toThrow('Unknown event `*`');
    expect(() => strict.events({ types: [star] })).toThrow('Unknown event `*`');
    expect(() => strict.on('*', () => undefined)()).not.toThrow();
  });

  it('[U-3] is refused like an option that is unknown or of the wrong type', () => {
    const { strict } = startBus();
    // @ts-expect-error misspelt
    expect(() => strict.events({ typs: ['call.failed'] })).toThrow('did you mean types?');
    // @ts-expect-error misspelt
    expect(() => strict.wait('call.failed', { were: () => true })).toThrow('did you mean where?');
    // @ts-expect-error no signal
    expect(() => strict.wait('call.failed', { signal: 5 })).toThrow(
      'Expected `options.signal` to be an AbortSignal, got 5',
    );
    // @ts-expect-error no signal
    expect(() => strict.events({ signal: {} })).toThrow(
      'Expected `options.signal` to be an AbortSignal, got an object',
    );
  });
});

describe('waiting for a fact', () => {
  it('[U-3] resolves with the next one that fits, and listens no longer', async () => {
    const { bus } = startBus();
    const waiting = bus.wait('breaker.closed', { where: ({ integration }) => integration === 'kb' });
    bus.tell({ ...closed, integration: 'other' });
    bus.tell(closed);
    expect((await waiting).integration).toBe('kb');
    expect(bus.wants('breaker.closed')).toBe(false);
  });

  it('rejects with the reason of its signal, before or while waiting', async () => {
    const { bus } = startBus();
    const controller = new AbortController();
    const waiting = bus.wait('breaker.closed', { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(bus.wait('breaker.closed', { signal: controller.signal })).rejects.toThrow('enough');
    expect(bus.wants('breaker.closed')).toBe(false);
  });

  it('rejects with what its condition throws', async () => {
    const { bus } = startBus();
    const where = (): boolean => {
      throw new Error('bad condition');
    };
    const waiting = bus.wait('breaker.closed', { where });
    bus.tell(closed);
    await expect(waiting).rejects.toThrow('bad condition');
  });

  it('[I-1] rejects when the bus is closed, before or while waiting', async () => {
    const { bus } = startBus();
    const waiting = bus.wait('breaker.closed');
    bus.close();
    await expect(waiting).rejects.toThrow('The bus was closed while waiting for breaker.closed');
    await expect(bus.wait('breaker.closed')).rejects.toThrow('closed');
  });
});

describe('the facts as an iterator', () => {
  const types = async (stream: AsyncIterable<Told<Fact>>) => {
    const seen: string[] = [];
    for await (const { type } of stream) seen.push(type);
    return seen;
  };

  it('[U-3] gives what is told from its creation on, in order', async () => {
    const { bus } = startBus();
    const stream = bus.events();
    bus.tell(closed);
    bus.tell(halfOpened);
    expect([(await stream.next()).value?.type, (await stream.next()).value?.type]).toEqual([
      'breaker.closed',
      'breaker.half_opened',
    ]);
  });

  it('gives only the types it is asked for, each once', async () => {
    const { bus } = startBus();
    const stream = bus.events({ types: ['breaker.half_opened', 'breaker.half_opened'], limit: 1 });
    bus.tell(closed);
    bus.tell(halfOpened);
    expect([(await stream.next()).value?.type, stream.dropped]).toEqual(['breaker.half_opened', 0]);
    void stream.return();
    expect((await stream.next()).done).toBe(true);
  });

  it('answers several readers in their order', async () => {
    const { bus } = startBus();
    const stream = bus.events();
    const reads = Promise.all([stream.next(), stream.next()]);
    bus.tell(closed);
    bus.tell(halfOpened);
    expect((await reads).map(({ value }) => value?.type)).toEqual(['breaker.closed', 'breaker.half_opened']);
  });

  it('drops the oldest beyond its limit, and counts them', async () => {
    const { bus } = startBus();
    const stream = bus.events({ limit: 2 });
    bus.tell(closed);
    bus.tell(halfOpened);
    expect(stream.dropped).toBe(0);
    bus.tell(halfOpened);
    expect(stream.dropped).toBe(1);
    expect((await stream.next()).value?.type).toBe('breaker.half_opened');
  });

  it('[U-3] is read by its methods alone, also apart from it, and takes facts of nobody else', async () => {
    const { bus } = startBus();
    const { next, ...others } = bus.events({ types: ['breaker.closed'] });
    bus.tell(closed);
    expect((await next()).value).toMatchObject(closed);
    expect(Object.keys(others).sort()).toEqual(['dropped', 'return']);
  });

  it('ends with its signal', async () => {
    const { bus } = startBus();
    const controller = new AbortController();
    const seen = types(bus.events({ signal: controller.signal }));
    bus.tell(closed);
    await new Promise(setImmediate);
    controller.abort();
    expect(await seen).toEqual(['breaker.closed']);
    expect(await types(bus.events({ signal: controller.signal }))).toEqual([]);
  });

  it('[I-3] listens no longer once a loop is left', async () => {
    const { bus } = startBus();
    const stream = bus.events();
    bus.tell(closed);
    for await (const fact of stream) {
      expect(fact.type).toBe('breaker.closed');
      break;
    }
    expect(bus.wants('breaker.closed')).toBe(false);
  });

  it('[I-3] ends when the bus is closed, before or while reading', async () => {
    const { bus, heard, hear } = startBus();
    const seen = types(bus.events());
    bus.on('*', hear('a'));
    bus.close();
    expect(await seen).toEqual([]);
    expect(await types(bus.events())).toEqual([]);
    bus.on('*', hear('b'));
    bus.tell(closed);
    expect(heard).toEqual([]);
  });

  it.each([0, 1.5])('names a limit of %s', (limit) => {
    const { bus } = startBus();
    expect(() => bus.events({ limit })).toThrow('Expected `options.limit` to be a positive integer');
  });

  it('names a list of types that is none', () => {
    const { bus } = startBus();
    expect(() => bus.events({ types: [] })).toThrow(
      'Expected `options.types` to be a list of at least one fact type, got an array of 0',
    );
  });
});

describe('a wait that nobody looks at', () => {
  it('[I-3] [I-4] does not end the process when the bus is closed', async () => {
    const rejections: unknown[] = [];
    const note = (reason: unknown): void => void rejections.push(reason);
    process.on('unhandledRejection', note);
    const bus = createBus({ clock: new SimulatedClock() });
    void bus.wait('process.started');
    bus.close();
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    process.off('unhandledRejection', note);
    expect(rejections).toEqual([]);
  });
});

it('[O-8] masks a fact that the store was given before once more as it is told: more may be known by then', () => {
  const secrets = new KnownSecrets();
  const bus = createBus({ clock: new SimulatedClock(), redact: createFactRedactor(secrets) });
  const told: unknown[] = [];
  bus.on('*', (fact) => void told.push(fact));
  const fact = bus.masked<Fact>({ type: 'breaker.closed', integration: 'kb of learnt-meanwhile' });
  secrets.learn({ KB_TOKEN: 'learnt-meanwhile' });
  bus.tell(fact, true);
  expect(told).toMatchObject([{ integration: expect.stringMatching(/^kb of \[redacted\]#/) as string }]);
});
