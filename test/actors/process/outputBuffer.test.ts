import { fc } from '../../support/property.ts';
import { describe, expect, it } from 'vitest';
import { createOutputBuffer } from '../../../src/actors/process/outputBuffer.ts';

function filled(text: string, headBytes: number, tailBytes: number, chunkBytes = 7) {
  const buffer = createOutputBuffer({ headBytes, tailBytes });
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += chunkBytes) buffer.push(bytes.subarray(at, at + chunkBytes));
  return buffer;
}

describe('the output buffer', () => {
  it('[S-7] keeps everything up to head and tail together', () => {
    expect(filled('0123456789', 4, 6).capture()).toEqual({ text: '0123456789', bytes: 10, omittedBytes: 0 });
  });

  it('[S-7] leaves out the middle from one byte more, and says how much', () => {
    expect(filled('0123456789a', 4, 6).capture()).toEqual({
      text: '0123\n[... 1 bytes left out ...]\n56789a',
      bytes: 11,
      omittedBytes: 1,
    });
  });

  it('[S-7] keeps 64 kB and 256 kB unless told otherwise', () => {
    const buffer = createOutputBuffer();
    for (let megabyte = 0; megabyte < 3; megabyte++) buffer.push(Buffer.alloc(1024 * 1024, 'x'));
    const { bytes, omittedBytes } = buffer.capture();
    expect({ bytes, kept: bytes - omittedBytes }).toEqual({ bytes: 3 * 1024 * 1024, kept: (64 + 256) * 1024 });
  });

  it('cuts no character in two at either joint', () => {
    const { text, bytes, omittedBytes } = filled('ä€🙂ä€🙂ä€🙂', 8, 8).capture();
    expect(text).toBe(`ä€\n[... ${omittedBytes} bytes left out ...]\n€🙂`);
    expect(bytes - omittedBytes).toBe(Buffer.byteLength('ä€€🙂'));
  });

  it('joins a character that came in two chunks', () => {
    expect(filled('€€€', 4, 10, 1).text()).toBe('€€€');
  });

  it('keeps no reference to the chunk', () => {
    const buffer = createOutputBuffer({ headBytes: 2, tailBytes: 2 });
    const chunk = Buffer.from('abcd');
    buffer.push(chunk);
    chunk.fill('x');
    expect(buffer.text()).toBe('abcd');
  });

  it('keeps start and end whatever the sizes of the chunks', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 30 });
    const limit = fc.integer({ min: 0, max: 40 });
    fc.assert(
      fc.property(sizes, limit, limit, (chunks, headBytes, tailBytes) => {
        const buffer = createOutputBuffer({ headBytes, tailBytes });
        let all = '';
        for (const [index, size] of chunks.entries()) {
          const text = String.fromCharCode(97 + (index % 26)).repeat(size);
          all += text;
          buffer.push(Buffer.from(text));
        }
        const omitted = Math.max(0, all.length - headBytes - tailBytes);
        const end = tailBytes === 0 ? '' : all.slice(-tailBytes);
        const cut = `${all.slice(0, headBytes)}\n[... ${omitted} bytes left out ...]\n${end}`;
        expect(buffer.capture()).toEqual({ text: omitted === 0 ? all : cut, bytes: all.length, omittedBytes: omitted });
      }),
    );
  });

  it('refuses a negative size', () => {
    expect(() => createOutputBuffer({ headBytes: -1 })).toThrow(
      'Expected `options.headBytes` to be an integer of at least 0, got -1',
    );
  });
});
