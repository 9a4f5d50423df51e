import { describe, expect, it } from 'vitest';
import { judgedAnswer, saysFailure } from '../../../proxy/api/saidFailure.ts';

/** As programs wrote them: Codex 0.166, opencode 1.18, goose 1.x, gemini-cli 0.61. */
const failures = [
  'Chunk ID: 35b1cb\nWall time: 0.0000 seconds\nProcess exited with code 2\nOriginal token count: 14\nOutput:\nls: no\n',
  'Exit code: 127\nWall time: 0.1 seconds\nOutput:\nx',
  '{"output":"no\\n","metadata":{"exit_code":1,"duration_seconds":0.1}}',
  'unsupported call: nosuch',
  'unsupported custom tool call: apply_patch',
  'failed to parse function arguments: missing field `cmd` at line 1 column 9',
  'write_stdin failed: Unknown process id 99',
  'apply_patch verification failed: Failed to find expected lines in a.ts',
  "ls: cannot access '/nope': No such file or directory\n\nCommand exited with code 2",
  "ls: cannot access '/nope': No such file or directory\n",
  'bash: line 1: foo: command not found',
  'File not found: /nope',
  'File /nope not found',
  'Failed to read /nope: No such file or directory (os error 2)',
  "The tool call returned the following error:\n-32600: Tool 'nosuch' was not advertised for this model turn",
  "The arguments provided to the tool are invalid: Model tried to call unavailable tool 'nosuch'.",
  "<untrusted_context>\nOutput: ls: cannot access '/nope'\nExit Code: 2\nProcess Group PGID: 3339\n</untrusted_context>",
  `Output: ${'compiled a file\n'.repeat(40)}Exit Code: 2\nProcess Group PGID: 3339`,
  'Error: ENOENT',
  'Error executing tool: boom',
  'TypeError: x is not a function',
  'Traceback (most recent call last):\n  File "a.py"',
  'fatal: not a git repository',
  '{"error":"gone"}',
  '{"isError":true,"content":[]}',
  '{"success": false}',
];

const successes = [
  'Chunk ID: 8b6b8d\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 1\nOutput:\nerror: none\n',
  'Chunk ID: 21dec9\nWall time: 1.0015 seconds\nProcess running with session ID 3038\nOriginal token count: 0\nOutput:\n',
  '<untrusted_context>\nOutput: hi\nProcess Group PGID: 3342\n</untrusted_context>',
  '{"output":"ok","metadata":{"exit_code":0}}',
  '{"error":null,"rows":[]}',
  '{"error": "", "ok": true}',
  '',
  'ok',
  '0 errors, 0 warnings',
  'import { Error } from "./errors.ts";',
  '# Errors and how to mend them\n\nError handling is done in…',
  'errors.ts\nfailed.ts\nexit.ts',
  'The build passed; nothing failed.',
  'export const exitCode = 1;',
  `${'compiled a file\n'.repeat(40)}Exit Code: 2${'\nand went on'.repeat(40)}`,
];

describe('what an answer says of itself', () => {
  it.each(failures)('[E-7] a failure: %j', (text) => {
    expect(saysFailure(text)).toBe(true);
  });

  it.each(successes)('[E-7] none: %j', (text) => {
    expect(saysFailure(text)).toBe(false);
  });

  it('[E-7] a protocol that says it is believed', () => {
    expect(judgedAnswer('Error: a file of that name', false)).toMatchObject({ ok: true });
    expect(judgedAnswer('all is well', true)).toMatchObject({ ok: false, message: 'all is well' });
    expect(judgedAnswer([{ type: 'image', source: {} }], true)).toMatchObject({ ok: false });
  });

  it('[E-7] what Codex puts before an answer is no part of it, but for the time it took', () => {
    const head =
      'Chunk ID: 1\nWall time: 12.5 seconds\nProcess exited with code 1\nOriginal token count: 14\nOutput:\n';
    expect(judgedAnswer(`${head}no such key\n`)).toEqual({
      ok: false,
      kind: 'error',
      message: 'no such key\n',
      tookMs: 12_500,
    });
    expect(
      judgedAnswer([
        { type: 'input_text', text: 'Wall time: 0.1 seconds\nOutput:' },
        { type: 'input_text', text: 'fine' },
      ]),
    ).toEqual({ ok: true, value: 'fine', tookMs: 100 });
    expect(judgedAnswer(head)).toMatchObject({ ok: false, message: head });
  });
});
