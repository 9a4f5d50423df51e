import { describe, expect, it } from 'vitest';
import { joinOutput } from '../../../cli/run/runCommand.ts';

function pass(chunks: readonly Uint8Array[]) {
  const written: string[] = [];
  const lines: string[] = [];
  const output = joinOutput(
    { write: (chunk, stream) => void written.push(`${stream} ${Buffer.from(chunk).toString('latin1')}`) },
    (line) => {
      lines.push(line);
      return line === 'half' ? 'whole' : line;
    },
  );
  for (const chunk of chunks) void output.write(chunk, 'stdout');
  return { output, written, lines };
}

describe('the output of an agent on its way', () => {
  it('[R-14] is amended line by line, wherever its chunks end', async () => {
    const { output, written } = pass(['a\nha', 'lf\n', 'b\nhalf'].map((text) => Buffer.from(text)));
    void output.write(Buffer.from('noise'), 'stderr');
    await output.end();
    expect(written).toEqual(['stdout a\n', 'stdout whole\n', 'stdout b\n', 'stderr noise', 'stdout whole']);
  });

  it('[R-14] passes bytes that are no text as they are, and lines that are too long to be held', async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x0a]);
    const long = Buffer.alloc(17 * 1024 * 1024, 'x');
    const { output, written, lines } = pass([bytes, long, Buffer.from('half\nhalf\n')]);
    await output.end();
    expect(written[0]).toBe(`stdout ${bytes.toString('latin1')}`);
    expect(written.slice(2)).toEqual(['stdout half\n', 'stdout whole\n']);
    expect(lines).toHaveLength(2);
  });
});
