import { describe, expect, it } from 'vitest';
import { templateMatches } from '../../../../proxy/hub/hubLists.ts';

describe('a URI', () => {
  it.each([
    ['demo://text/{id}', 'demo://text/7', true],
    ['demo://text/{id}', 'demo://blob/7', false],
    ['file:///{+path}', 'file:///a/b', true],
    ['a{b}c{d}e', 'a1c2e', true],
    ['a{b}c{d}e', 'a1e', false],
    ['{a}aa', 'a', false],
    ['fixed', 'fixed', true],
    ['fixed', 'other', false],
  ])('[P-8] of the template %s may be %s: %s', (template, uri, expected) => {
    expect(templateMatches(template, uri)).toBe(expected);
  });
});
