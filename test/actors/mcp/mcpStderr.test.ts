import { describe, expect, it } from 'vitest';
import { createStderrTail } from '../../../src/actors/mcp/mcpStderr.ts';
import { lossFacts } from '../../../src/actors/mcp/serverEnd.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

function startTail() {
  const clock = new SimulatedClock();
  const lines: string[] = [];
  const tail = createStderrTail(
    clock,
    (text) => text.replaceAll('s3cret', '[KEY]'),
    (line) => lines.push(line),
  );
  const write = (text: string): void => tail.push(Buffer.from(text));
  return { clock, tail, lines, write };
}

describe('what a server writes to stderr', () => {
  it('[M-6] is its last words as a whole, while it is not up', () => {
    const { tail, write } = startTail();
    write('Starting with s3cret\n\nError: no key\n');
    expect(tail.lastWords()).toBe('Starting with [KEY] | Error: no key');
  });

  it('[M-6] is no reason for its end where it was written before it was up', async () => {
    const { clock, tail, write, lines } = startTail();
    write('Starting default (STDIO) server...\n');
    tail.up();
    // Still in the other pipe when it answered.
    write('ready\n');
    await clock.settle();
    expect(tail.lastWords()).toBe('');
    write('fatal: out of luck\n');
    tail.up();
    await clock.settle();
    expect(tail.lastWords()).toBe('fatal: out of luck');
    expect(tail.text()).toBe('Starting default (STDIO) server... | ready | fatal: out of luck');
    expect(lines).toHaveLength(3);
  });
});

describe('the message about the end of a server', () => {
  it('[M-6] quotes stderr after an exit, and after a SIGKILL only where it names an error', () => {
    expect(lossFacts({ exitCode: 3 }, 'handled 7').message).toBe('The server exited with code 3; stderr: handled 7');
    expect(lossFacts({ signal: 'SIGKILL' }, 'handled 7').message).toBe('The server was ended by SIGKILL');
    expect(lossFacts({ signal: 'SIGKILL' }, 'Error: no memory').message).toBe(
      'The server was ended by SIGKILL; stderr: Error: no memory',
    );
    expect(lossFacts({ signal: 'SIGABRT' }, 'Assertion failed').message).toContain('; stderr: Assertion failed');
  });
});
