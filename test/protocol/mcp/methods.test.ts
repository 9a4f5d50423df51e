import { describe, expect, it } from 'vitest';
import { annotatedEffect, type ToolAnnotations } from '../../../src/protocol/mcp/methods.ts';

describe('the annotations of a tool', () => {
  it.each([
    [{ readOnlyHint: true }, 'readOnly'],
    [{ readOnlyHint: true, destructiveHint: true }, 'readOnly'],
    [{ idempotentHint: true }, 'idempotent'],
    [{ idempotentHint: true, destructiveHint: true }, 'idempotent'],
    [{ destructiveHint: true }, 'mutating'],
    [{ destructiveHint: false }, 'mutating'],
    [{ readOnlyHint: false }, 'mutating'],
    [{ idempotentHint: false }, 'mutating'],
    [{ title: 'Search', openWorldHint: true }, undefined],
    [{}, undefined],
    [undefined, undefined],
  ] as const)('[R-12] %j stand for %s', (annotations, effect) => {
    expect(annotatedEffect(annotations as ToolAnnotations | undefined)).toBe(effect);
  });
});
