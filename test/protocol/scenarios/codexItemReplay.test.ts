import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { createItemReplay, type ItemEvent } from '../../../agents/codex/protocol/itemReplay.ts';

const item = (id: string, text = '', type = 'agentMessage') => ({ id, type, text, raw: {} });
const started = (id: string, type?: string): ItemEvent => ({ type: 'started', item: item(id, '', type) });
const completed = (id: string, text: string, type?: string): ItemEvent => ({
  type: 'completed',
  item: item(id, text, type),
});
const delta = (id: string, text: string): ItemEvent => ({ type: 'delta', item: id, text });
const retry = 'retry' as const;
const answered = 'answered' as const;

function pass(...events: (ItemEvent | typeof retry | typeof answered)[]): ItemEvent[] {
  const replay = createItemReplay();
  return events.flatMap((event) => {
    if (event === retry) replay.retrying();
    else if (event === answered) replay.answered();
    else return [...replay.pass(event)];
    return [];
  });
}

const whole = (id: string, text: string): ItemEvent[] => [started(id), delta(id, text), completed(id, text)];

describe('the items of a stream that is tried again', () => {
  it('[F-20] pass as they are when nothing is tried again', () => {
    const events = [...whole('a', 'one'), ...whole('b', 'one')];
    expect(pass(...events)).toEqual(events);
  });

  it('[F-20] are told once when they are said again in the same words', () => {
    expect(pass(...whole('a', 'one'), ...whole('b', 'two'), retry, ...whole('c', 'one'), ...whole('d', 'two'))).toEqual(
      [...whole('a', 'one'), ...whole('b', 'two')],
    );
  });

  it('[F-20] go on where the first attempt was cut off, under its id', () => {
    expect(
      pass(
        started('a'),
        delta('a', 'hel'),
        retry,
        started('b'),
        delta('b', 'he'),
        delta('b', 'llo'),
        delta('b', '!'),
        completed('b', 'hello!'),
      ),
    ).toEqual([started('a'), delta('a', 'hel'), delta('a', 'lo'), delta('a', '!'), completed('a', 'hello!')]);
  });

  it('[F-20] are told from their beginning when they say something else', () => {
    expect(
      pass(
        started('a'),
        delta('a', 'hello'),
        retry,
        started('b'),
        delta('b', 'he'),
        delta('b', 'y'),
        completed('b', 'hey'),
      ),
    ).toEqual([started('a'), delta('a', 'hello'), started('b'), delta('b', 'hey'), completed('b', 'hey')]);
  });

  it('[F-20] are told when they are of another kind', () => {
    expect(
      pass(...whole('a', 'one'), retry, started('b', 'reasoning'), completed('b', 'one', 'reasoning')),
    ).toHaveLength(5);
  });

  it('[F-20] that were cut off and come back without pieces are told complete', () => {
    expect(
      pass(
        started('a'),
        delta('a', 'hel'),
        retry,
        completed('b', 'other'),
        retry,
        started('c'),
        completed('c', 'hello'),
      ).at(-1),
    ).toEqual(completed('a', 'hello'));
  });

  it('[F-20] that are complete and come back longer are told anew', () => {
    const longer = [started('b'), delta('b', 'one'), delta('b', ' more'), completed('b', 'one more')];
    expect(pass(...whole('a', 'one'), retry, ...longer)).toEqual([...whole('a', 'one'), ...whole('b', 'one more')]);
  });

  it('[F-20] are compared with what was said last', () => {
    const [first, second] = [
      [...whole('a', 'A'), ...whole('b', 'B')],
      [...whole('c', 'C'), ...whole('d', 'D')],
    ];
    expect(pass(...first, retry, ...second, retry, ...whole('e', 'C'), ...whole('f', 'D'))).toEqual([
      ...first,
      ...second,
    ]);
  });

  it('[F-20] of another request are never taken for repetitions', () => {
    const again = [
      ...whole('a', 'one'),
      answered,
      started('b'),
      delta('b', 'tw'),
      retry,
      ...whole('c', 'one'),
    ] as const;
    expect(pass(...again).slice(-3)).toEqual([started('c'), delta('c', 'one'), completed('c', 'one')]);
  });

  it('[F-20] that act pass always, and end what can be repeated', () => {
    const command = completed('x', '', 'commandExecution');
    expect(pass(...whole('a', 'one'), command, retry, command, ...whole('b', 'one'))).toEqual([
      ...whole('a', 'one'),
      command,
      command,
      ...whole('b', 'one'),
    ]);
  });

  it('[F-20] give the reader each text once, however often and wherever it is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 }),
        fc.array(fc.nat(40), { maxLength: 4 }),
        (texts, cuts) => {
          const attempt = (name: string, upTo: number): ItemEvent[] =>
            texts
              .flatMap((text, index) => [
                started(`${name}${index}`),
                ...Array.from(text, (part) => delta(`${name}${index}`, part)),
                completed(`${name}${index}`, text),
              ])
              .slice(0, upTo);
          const events = cuts.flatMap((cut, index) => [...attempt(`t${index}-`, cut), retry]);
          const told = pass(...events, ...attempt('last-', Number.POSITIVE_INFINITY));
          const said = told.flatMap((event) => (event.type === 'delta' ? [event.text] : []));
          expect(said.join('')).toBe(texts.join(''));
          expect(told.filter(({ type }) => type === 'completed')).toHaveLength(texts.length);
          expect(told.filter(({ type }) => type === 'started')).toHaveLength(texts.length);
        },
      ),
    );
  });

  it('[F-24] keep at most 4 MB to compare with; beyond it repetitions are told', () => {
    const long = 'x'.repeat(3 * 1024 * 1024);
    expect(pass(...whole('a', long), ...whole('b', long), retry, ...whole('c', long))).toHaveLength(9);
    expect(pass(...whole('a', long), retry, ...whole('c', long))).toHaveLength(3);
    const [a, b, c] = ['a', 'b', 'c'].map((id) => [started(id), completed(id, long)]);
    expect(pass(...(a ?? []), ...(b ?? []), retry, ...(c ?? []))).toHaveLength(6);
  });
});
