import { describe, expect, it } from 'vitest';
import { textForPeople, type SourcePath } from './texts.ts';

/** A text in what stands around it, from the inside to the outside. */
const inside = (...nodes: readonly SourcePath['node'][]): SourcePath =>
  nodes.reduceRight<SourcePath | null>((parentPath, node) => ({ node, parentPath }), null) as SourcePath;
const text = { type: 'StringLiteral' };
const call = (name: string, type: string) => ({ type, callee: { type: 'Identifier', name } });

describe('a text for people', () => {
  it('[Q-3] is the message of an error, also in parts, and the help of an option', () => {
    expect(textForPeople(inside(text, call('RangeError', 'NewExpression')))).toBe('the message of an error');
    expect(
      textForPeople(
        inside(
          text,
          { type: 'ConditionalExpression' },
          { type: 'TemplateLiteral' },
          call('TypeError', 'NewExpression'),
        ),
      ),
    ).toBe('the message of an error');
    expect(textForPeople(inside(text, { type: 'ObjectProperty', key: { type: 'Identifier', name: 'help' } }))).toBe(
      'the help of an option',
    );
  });

  it('[Q-3] is no other text, and nothing else', () => {
    expect(textForPeople(inside(text, call('Set', 'NewExpression')))).toBeUndefined();
    expect(
      textForPeople(inside(text, { type: 'ObjectProperty' }, call('AttemptError', 'NewExpression'))),
    ).toBeUndefined();
    expect(textForPeople(inside({ type: 'NumericLiteral' }, call('Error', 'NewExpression')))).toBeUndefined();
  });
});
