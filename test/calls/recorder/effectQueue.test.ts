import { describe, expect, it } from 'vitest';
import { EffectQueue } from '../../../src/calls/recorder/effectQueue.ts';
import type { Fact } from '../../../src/policy/facts/facts.ts';

function start() {
  const heard: string[] = [];
  const react = new Map<string, () => void>();
  const queue = new EffectQueue({
    wants: () => true,
    tell: (fact: Fact) => note((fact as { integration: string }).integration),
  });
  const note = (name: string): void => {
    heard.push(name);
    react.get(name)?.();
  };
  const tell = (name: string): void => {
    queue.tell({ type: 'integration.paused', integration: name, pauseMs: 1 });
  };
  const step = (run: () => void): void => {
    queue.enter();
    run();
    queue.leave();
  };
  return { queue, heard, react, note, tell, step };
}

describe('what a step tells others', () => {
  it('[I-4] is told when the outermost step is complete, in order and before that returns', () => {
    const { heard, tell, step } = start();
    step(() => {
      tell('first');
      step(() => tell('second'));
      expect(heard).toEqual([]);
    });
    expect(heard).toEqual(['first', 'second']);
  });

  it('[I-4] comes before what a listener leads to', () => {
    const { heard, react, tell, step } = start();
    react.set('opened', () => step(() => tell('closed')));
    step(() => {
      tell('opened');
      tell('failed');
    });
    expect(heard).toEqual(['opened', 'failed', 'closed']);
  });

  it('[I-4] has what a further step of its own tells in the place of that step', () => {
    const { queue, heard, tell, step } = start();
    step(() => {
      tell('first');
      queue.step(() => {
        tell('second');
        queue.step(() => tell('third'), undefined);
      }, undefined);
      tell('fourth');
    });
    expect(heard).toEqual(['first', 'second', 'third', 'fourth']);
  });

  it('[I-1] is told whatever one of those that hear it throws, which is thrown on', () => {
    const { heard, react, tell, step } = start();
    react.set('first', () => {
      throw new Error('a bug');
    });
    expect(() =>
      step(() => {
        tell('first');
        tell('second');
      }),
    ).toThrow('a bug');
    step(() => tell('third'));
    expect(heard).toEqual(['first', 'second', 'third']);
  });

  it('[I-1] does not wait for code that may call back at length', () => {
    const { queue, heard, note, tell, step } = start();
    step(() => {
      queue.step(() => {
        queue.outside();
        step(() => tell('called back'));
        note('returned');
        queue.inside();
      }, undefined);
      tell('rest');
    });
    expect(heard).toEqual(['called back', 'returned', 'rest']);
  });

  it('[I-1] loses nothing when that code made a step that told nothing', () => {
    const { queue, heard, tell, step } = start();
    step(() => {
      queue.step(() => {
        queue.outside();
        step(() => undefined);
        queue.inside();
        tell('first');
        tell('second');
      }, undefined);
      queue.step(() => {
        queue.outside();
        step(() => undefined);
        queue.inside();
        tell('third');
      }, undefined);
    });
    expect(heard).toEqual(['first', 'second', 'third']);
  });

  it('[I-1] goes through a list one step at a time, until a step says that it is enough', () => {
    const { queue, heard, react, note, tell, step } = start();
    let enough = false;
    react.set('2', () => {
      enough = true;
    });
    step(() => {
      queue.each([1, 2, 3], (number) => {
        if (enough) return false;
        tell(String(number));
        return true;
      });
      queue.step(() => note('end'), undefined);
    });
    expect(heard).toEqual(['1', '2', 'end']);
  });
});
