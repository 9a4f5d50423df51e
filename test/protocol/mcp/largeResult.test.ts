import { describe, expect, it } from 'vitest';
import { cutResult, pageIn, sizeCharsOf } from '../../../src/protocol/mcp/largeResult.ts';

interface Told {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta: { readonly 'unwedge/result': { handle: string; bytes: number; head: number; tail: number } };
}

/** Cuts a result, and says what of it is kept. */
function cut(result: object, limit = 1000, chars?: number) {
  const kept: Buffer[] = [];
  const told = cutResult({ ...result }, limit, chars, (whole) => {
    kept.push(whole);
    return 'HANDLE';
  }) as Told | undefined;
  return { told, kept: kept[0], texts: told?.content.map(({ text }) => text) ?? [] };
}

const text = (...texts: string[]) => ({ content: texts.map((each) => ({ type: 'text', text: each })) });
const lines = (count: number, word = 'line') =>
  Array.from({ length: count }, (_, index) => `${word} ${index}\n`).join('');
const bytesOf = (all: string): number => Buffer.byteLength(all);

describe('a large result of a tool', () => {
  it('[P-12] is told as it is up to the limit, in bytes of its text', () => {
    expect(cut(text('x'.repeat(1000))).told).toBeUndefined();
    expect(cut(text('x'.repeat(1001))).told).toBeDefined();
    expect(cut(text('é'.repeat(500))).told).toBeUndefined();
    expect(cut(text('é'.repeat(501))).told).toBeDefined();
    expect(cut({}).told).toBeUndefined();
    expect(cut({ content: 'nonsense' }).told).toBeUndefined();
    expect(cut({ content: [null, 3, { type: 'text' }] }).told).toBeUndefined();
  });

  it('[P-12] begins with a note of sizes and the call that reads on, so that a client which cuts it again leaves that', () => {
    const { texts, told, kept } = cut(text(lines(1000)));
    const { head, tail, bytes } = told?._meta['unwedge/result'] ?? { head: 0, tail: 0, bytes: 0 };
    expect(texts[0]).toContain(`Of ${bytes} bytes of text the first ${head} and the last ${bytes - tail} follow.`);
    expect(texts[0]).toContain(`unwedge_read_result {"handle":"HANDLE","from":${head}}`);
    expect(texts[0]?.length).toBeLessThan(300);
    expect(kept?.toString()).toBe(lines(1000));
  });

  it('[P-12] is told as head and tail that end and begin with a line, and no more of it than the limit', () => {
    const whole = lines(1000);
    const [, head = '', middle = '', tail = ''] = cut(text(whole)).texts;
    expect(whole.startsWith(head)).toBe(true);
    expect(whole.endsWith(tail)).toBe(true);
    expect(head.endsWith('\n')).toBe(true);
    expect(tail.startsWith('line ')).toBe(true);
    expect(bytesOf(head) + bytesOf(tail)).toBeLessThanOrEqual(1000);
    expect(bytesOf(head) + bytesOf(tail)).toBeGreaterThan(900);
    expect(middle).toContain(`${bytesOf(whole) - bytesOf(head) - bytesOf(tail)} bytes are left out here`);
  });

  it.each(['é', '€', '😀', 'aé€😀', '\u{10ffff}x'])(
    '[P-12] has no broken character where it has no lines: %s',
    (one) => {
      for (let more = 0; more < 9; more++) {
        const whole = 'x'.repeat(more) + one.repeat(900);
        const { texts, kept, told } = cut(text(whole));
        const [, head = '', , tail = ''] = texts;
        expect(`${head}${tail}`).not.toContain('\u{fffd}');
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
        expect(bytesOf(head) + bytesOf(tail)).toBeLessThanOrEqual(1000);
        const { head: from = 0, tail: to = 0 } = told?._meta['unwedge/result'] ?? {};
        expect(head + (kept?.toString('utf8', from, to) ?? '') + tail).toBe(whole);
      }
    },
  );

  it('[P-12] of many texts is one text, a line end between two', () => {
    const parts = Array.from({ length: 300 }, (_, index) => `part ${index}`);
    const { texts, kept } = cut(text(...parts));
    expect(kept?.toString()).toBe(parts.join('\n'));
    expect(texts).toHaveLength(4);
    expect(texts[1]?.startsWith('part 0\npart 1\n')).toBe(true);
    expect(texts[3]?.endsWith('\npart 299')).toBe(true);
  });

  it('[P-12] keeps what else it says, its error and what is for programs', () => {
    const given = { ...text('x'.repeat(2000)), isError: true, resultType: 'complete', _meta: { own: 1 } };
    expect(cut(given).told).toMatchObject({ isError: true, resultType: 'complete', _meta: { own: 1 } });
  });

  it('[P-12] keeps for whom its texts are and what else is said of them, of the first and of the last', () => {
    const annotations = { audience: ['user'], priority: 0.5 };
    const one = { type: 'text', text: 'a'.repeat(2000), annotations, _meta: { 'x/y': 1 } };
    const { told } = cut({ content: [one] });
    expect(told?.content).toMatchObject([
      { type: 'text', text: expect.stringContaining('unwedge_read_result') as string },
      { annotations, _meta: { 'x/y': 1 } },
      { type: 'text', text: expect.stringContaining('left out here') as string },
      { annotations, _meta: { 'x/y': 1 } },
    ]);
    for (const at of [0, 2]) expect(Object.keys(told?.content[at] ?? {})).toEqual(['type', 'text']);
    const two = cut({ content: [one, { type: 'text', text: 'b'.repeat(2000), annotations: { priority: 1 } }] });
    expect(two.told?.content[1]).toMatchObject({ annotations, text: expect.stringMatching(/^a+$/) as string });
    expect(two.told?.content[3]).toEqual({
      ...{ type: 'text', annotations: { priority: 1 } },
      text: expect.stringMatching(/^b+$/) as string,
    });
  });

  it('[P-12] keeps what the server says under the name of our note beside it, and takes it for none of ours', () => {
    const theirs = { handle: 'THEIRS', bytes: 1, head: 0, tail: 0 };
    const { told } = cut({ ...text('x'.repeat(2000)), _meta: { own: 1, 'unwedge/result': theirs } });
    expect(told?._meta).toMatchObject({ own: 1, 'unwedge/result': { handle: 'HANDLE', bytes: 2000 } });
    expect(told?._meta).toHaveProperty(['unwedge/result-of-server'], theirs);
    expect(JSON.stringify(cut(text('x'.repeat(2000))).told)).not.toContain('of-server');
  });

  it('[P-12] has its pictures, sound, links and pages of applications whole, whatever their size', () => {
    const data = 'A'.repeat(5000);
    const others = [
      { type: 'image', data, mimeType: 'image/png' },
      { type: 'audio', data, mimeType: 'audio/wav' },
      { type: 'resource_link', uri: 'file:///big', name: data },
      { type: 'resource', resource: { uri: 'ui://app/page', mimeType: 'text/html', text: data } },
      { type: 'of-tomorrow', data },
    ];
    expect(cut({ content: others }).told).toBeUndefined();
    const { told } = cut({ content: [...text(lines(500)).content, ...others] });
    expect(told?.content.slice(4)).toEqual(others);
  });

  const graph = { nodes: Array.from({ length: 200 }, (_, index) => ({ name: `é${index}` })) };
  it.each([
    ['as its one field, the text', text(lines(500)), { content: lines(500) }],
    ['as its one field, the texts', text('a', lines(500)), { result: ['a', lines(500)] }],
    ['as JSON', text(JSON.stringify(graph)), graph],
    ['as JSON on many lines', text(JSON.stringify(graph, null, 2)), graph],
    ['as JSON of its one field', text(JSON.stringify(graph.nodes, null, 1)), { result: graph.nodes }],
  ])('[P-12] is kept once where its structured content says it again %s', (_, result, structuredContent) => {
    const { told, texts, kept } = cut({ ...result, structuredContent });
    expect(told).not.toHaveProperty('structuredContent');
    expect(kept?.toString()).toBe(result.content.map((block) => block.text).join('\n'));
    expect(texts[0]).toContain('The structured content says the same.');
    expect(texts[0]).not.toContain('Left out');
  });

  it('[P-12] of a picture that its structured content repeats is told without that, and nothing is kept', () => {
    const content = [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(3000) }];
    const { told, kept } = cut({ content, structuredContent: { content }, isError: false });
    expect(told).toEqual({ content, isError: false });
    expect(kept).toBeUndefined();
  });

  it.each([
    ['more', { content: lines(500), more: 1 }],
    ['something else', { content: `${lines(500)}.` }],
    ['it in parts', { parts: lines(500).split(' ') }],
  ])('[P-12] is kept with its structured content where that says %s', (_, structuredContent) => {
    const { kept } = cut({ ...text(lines(500)), structuredContent });
    expect(kept?.toString()).toBe(`${lines(500)}\n${JSON.stringify(structuredContent)}`);
  });

  it('[P-12] has structured content and resources whole, or told as kept with their place', () => {
    const small = { rows: [1, 2, 3] };
    expect(cut({ ...text('ok'), structuredContent: small }).told).toBeUndefined();
    expect(cut({ ...text(lines(500)), structuredContent: small }).told?.structuredContent).toEqual(small);

    const structuredContent = { rows: Array.from({ length: 1000 }, (_, index) => `é${index}`) };
    const resource = { uri: 'file:///big.txt', text: lines(400) };
    const { told, kept, texts } = cut({
      content: [...text('short').content, { type: 'resource', resource }],
      structuredContent,
    });
    expect(told).not.toHaveProperty('structuredContent');
    expect(texts.slice(1)).toEqual(['short']);
    const [, ...json] = kept?.toString().split('\n') ?? [];
    expect(json.map((each) => JSON.parse(each) as unknown)).toEqual([resource, structuredContent]);
    const [one = 0, other = 0] = json.map(bytesOf);
    expect(texts[0]).toContain(
      `Left out: the resource file:///big.txt, ${one} bytes of JSON behind the text. Left out: the structured content, ${other} bytes`,
    );
    expect(texts[0]).toContain('"from":6}');
  });

  it('[P-12] is whole up to as many characters as its tool wants, and cut at that where it wants less', () => {
    expect(sizeCharsOf({ _meta: { 'anthropic/maxResultSizeChars': 5000 } })).toBe(5000);
    for (const wrong of ['5000', -1, 0, null, Number.NaN])
      expect(sizeCharsOf({ _meta: { 'anthropic/maxResultSizeChars': wrong } })).toBeUndefined();
    expect(sizeCharsOf(undefined)).toBeUndefined();
    expect(cut(text('é'.repeat(5000)), 1000, 5000).told).toBeUndefined();
    expect(cut({ ...text('ok'), structuredContent: { is: 'x'.repeat(4000) } }, 1000, 5000).told).toBeUndefined();
    const { texts } = cut(text(lines(1000)), 1000, 5000);
    expect(bytesOf(`${texts[1]}${texts[3]}`)).toBeLessThanOrEqual(1000);
    const less = cut(text('x'.repeat(600)), 1000, 400).texts;
    expect(bytesOf(`${less[1]}${less[3]}`)).toBeLessThanOrEqual(400);
  });

  it('[P-12] is told whole where it cannot be kept: what keeps it throws', () => {
    const full = (): string => {
      throw new Error('no space left');
    };
    expect(() => cutResult(text('x'.repeat(2000)), 1000, undefined, full)).toThrow('no space left');
  });
});

describe('a page of a large result', () => {
  const pagesOf = (whole: Buffer, bytes: number) => {
    const pages: string[] = [];
    for (let at = 0; at < whole.length; ) {
      const part = whole.subarray(at, at + bytes);
      const { start, end } = pageIn(part, at + part.length >= whole.length);
      expect(start).toBe(0);
      expect(end).toBeGreaterThan(0);
      pages.push(part.toString('utf8', start, end));
      at += end;
    }
    return pages;
  };

  it.each([8, 9, 10, 11, 64, 1000])(
    '[P-12] has whole characters, and the pages are the whole: %s bytes each',
    (bytes) => {
      for (const whole of ['aé€😀'.repeat(100), lines(200, 'é'), '😀'.repeat(77), 'x', '\n\n\n', ''])
        expect(pagesOf(Buffer.from(whole), bytes).join('')).toBe(whole);
    },
  );

  it('[P-12] that begins within a character begins with the next one', () => {
    const whole = Buffer.from('😀é');
    for (const from of [1, 2, 3])
      expect(pageIn(whole.subarray(from), true)).toEqual({ start: 4 - from, end: 6 - from });
  });

  it('[P-12] ends with a line where one ends near', () => {
    expect(pagesOf(Buffer.from(lines(100)), 100).every((page) => page.endsWith('\n'))).toBe(true);
  });
});
