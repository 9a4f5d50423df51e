import { describe, expect, it } from 'vitest';
import { StartTurns } from '../../../../src/actors/process/tryStart.ts';

/** Turns of an event loop, each run by the test. */
function startLoop() {
  let turns: (() => void)[] = [];
  const started: string[] = [];
  const starts = new StartTurns((callback) => void turns.push(callback));
  const turn = (): void => {
    const due = turns;
    turns = [];
    for (const callback of due) callback();
  };
  return { started, turn, take: (name: string) => starts.take(() => void started.push(name)) };
}

describe('the turns of starts', () => {
  it('[S-2] lets the first start at once, and each other one after a whole turn of the event loop', () => {
    const { started, turn, take } = startLoop();
    for (const name of ['a', 'b', 'c']) take(name);
    expect(started).toEqual(['a']);
    turn();
    expect(started).toEqual(['a']);
    turn();
    expect(started).toEqual(['a', 'b']);
    turn();
    turn();
    expect(started).toEqual(['a', 'b', 'c']);
    turn();
    turn();
    take('d');
    expect(started).toEqual(['a', 'b', 'c', 'd']);
  });

  it('[I-1] passes over what was taken back', () => {
    const { started, turn, take } = startLoop();
    take('a');
    const takeBack = take('b');
    take('c');
    takeBack();
    turn();
    turn();
    expect(started).toEqual(['a', 'c']);
  });
});
