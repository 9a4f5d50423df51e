import { describe, expect, it } from 'vitest';
import { lastLine, withLastLine } from '../../../src/policy/text/lastLine.ts';
import { withStderr } from '../../../src/actors/mcp/serverEnd.ts';

const node = [
  "node:internal/modules/cjs/loader:1210 | throw err; | ^ | Error: Cannot find module '/x/nothere.mjs'",
  'at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)',
  "at node:internal/main/run_main_module:28:49 { | code: 'MODULE_NOT_FOUND', | requireStack: [] | } | Node.js v20.20.2",
].join(' | ');
const python = `Traceback (most recent call last):
  File "/srv/error.py", line 1, in <module>
    import acme
ModuleNotFoundError: No module named 'acme'`;

describe('the line of stderr that says what is wrong', () => {
  it.each([
    ['of Node', node, "Error: Cannot find module '/x/nothere.mjs'"],
    ['of Python', python, "ModuleNotFoundError: No module named 'acme'"],
    ['of a shell', 'starting\nsh: 1: acme: not found\n', 'sh: 1: acme: not found'],
    ['that names no error', 'reading the index\nout of rope\n', 'out of rope'],
    ['before what came after it', 'fatal: no key\nbye', 'fatal: no key'],
    ['that is not there', ' \n', undefined],
  ])('[O-9] is the last one that names an error, else the last one: %s', (_, text, line) => {
    expect(lastLine(text)).toBe(line);
  });

  it('[O-9] stands behind what became of the server', () => {
    expect(withLastLine(withStderr('The server exited with code 1', node))).toBe(
      "The server exited with code 1: Error: Cannot find module '/x/nothere.mjs'",
    );
    expect(withLastLine('The server exited with code 1')).toBe('The server exited with code 1');
  });
});
