import { describe, expect, it } from 'vitest';
import { worker } from './actors.ts';
import { startRoot } from './startRoot.ts';

const never = Number.POSITIVE_INFINITY;
const spec = (id: string) => ({ id, logic: worker, intensity: never, backoff: { maxMs: 100 } });

describe('a window that is used up', () => {
  it('[V-3] counts the restart of the child that another one made room for', async () => {
    const { clock, crash, node, told } = startRoot([spec('a'), spec('b')], { intensity: 3 });
    for (const id of ['a', 'a', 'a', 'b', 'b', 'b']) {
      crash(id);
      await clock.advance(100);
    }
    expect([node('a')?.state, node('b')?.state]).toEqual(['quarantined', 'running']);
    expect(told('supervisor.gave_up')).toMatchObject([{ child: 'a' }]);
    crash('b');
    expect(node('b')?.state).toBe('quarantined');
    expect(told('child.crashed').map((fact) => 'next' in fact && fact.next)).toEqual([
      ...Array.from({ length: 6 }, () => 'restart'),
      'quarantine',
    ]);
  });

  it('[V-3] is answered for by the whole group, in the name of the child that crashed last', async () => {
    const { clock, crash, node, told } = startRoot([spec('a'), spec('b')], { intensity: 2, strategy: 'one_for_all' });
    for (const id of ['a', 'a', 'b']) {
      crash(id);
      await clock.advance(100);
    }
    expect(told('supervisor.gave_up')).toMatchObject([{ child: 'b' }]);
    expect(told('child.crashed').at(-1)).toMatchObject({ child: 'b', next: 'quarantine' });
    expect([node('a')?.state, node('b')?.state]).toEqual(['quarantined', 'quarantined']);
  });
});
