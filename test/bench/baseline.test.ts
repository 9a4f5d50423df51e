import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { guards } from '../../bench/guards.ts';
import { formatBaseline, majorOf, parseBaseline } from '../../bench/harness/baseline.ts';
import { nameOf } from '../../bench/harness/guard.ts';
import { loadSuite } from '../../bench/suites.ts';

const path = 'bench/baseline.json';
const parse = (text: string) => parseBaseline(path, text);

describe('the recorded baseline', () => {
  it('is as large as docs/performance.md says, with the peers and without', () => {
    const page = readFileSync(new URL('../../docs/performance.md', import.meta.url), 'utf8');
    const peers = ['opossum', 'cockatiel'];
    const without = guards.filter(({ over }) => !peers.includes(over.subject));
    expect(page).toContain(`The guard compares ${guards.length} of the ratios `);
    expect(page).toContain(`peers the ${without.length} ratios against `);
  });

  it('is read as it was written, to three digits', () => {
    const text = formatBaseline({ node: 'v20.19.0', ratios: { 'calls: x': 0.123456, 'open: y': 12.3456 } });
    expect(parse(text)).toEqual({ node: 'v20.19.0', ratios: { 'calls: x': 0.123, 'open: y': 12.3 } });
    expect(text.endsWith('}\n')).toBe(true);
  });

  it.each([
    ['', 'expected JSON'],
    ['[]', 'expected an object'],
    ['null', 'expected an object'],
    ['{"ratios":{}}', 'expected `node` to be a version such as "v20.19.0", got undefined'],
    ['{"node":"20","ratios":{}}', 'expected `node` to be a version such as "v20.19.0", got "20"'],
    ['{"node":"v20.19.0"}', 'expected `ratios` to be an object'],
    ['{"node":"v20.19.0","ratios":[1]}', 'expected `ratios` to be an object'],
    ['{"node":"v20.19.0","ratios":{"x":"1"}}', 'expected `x` to be a number above 0, got "1"'],
    ['{"node":"v20.19.0","ratios":{"x":0}}', 'expected `x` to be a number above 0, got 0'],
    ['{"node":"v20.19.0","ratios":{"x":null}}', 'expected `x` to be a number above 0, got null'],
  ])('is refused in one line when it is %s', (text, what) => {
    const message = `${path}: ${what}; record it anew with \`npm run bench -- --record\``;
    expect(() => parse(text)).toThrow(new RangeError(message));
  });

  it('knows the major version of Node', () => {
    expect(majorOf('v20.19.0')).toBe(20);
    expect(majorOf('v24.0.0-nightly')).toBe(24);
    expect(majorOf('20.19.0')).toBeUndefined();
  });

  it('holds a ratio of every guard and of nothing else', () => {
    const { ratios } = parse(readFileSync(new URL('../../bench/baseline.json', import.meta.url), 'utf8'));
    expect(Object.keys(ratios)).toEqual(guards.map(nameOf));
  });

  it('is of figures that the suites have, under names of their own', async () => {
    expect(new Set(guards.map(nameOf)).size).toBe(guards.length);
    for (const { suite: name, of, over } of guards) {
      const suite = await loadSuite(name);
      for (const figure of [of, over]) {
        if (suite.missing?.includes(figure.subject) === true) continue;
        const subject = suite.subjects.find((each) => each.name === figure.subject);
        expect(Object.keys(subject?.cases ?? {})).toContain(figure.case);
      }
    }
  });
});
