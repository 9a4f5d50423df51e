import { failed, ok, spinning } from './build.ts';
import { otherRead, otherShell } from './others.ts';
import type { SpinningShape } from './shape.ts';

const notFound = failed(
  'Edit',
  { file_path: '/repo/src/app.ts', old_string: 'const port = 3000;', new_string: 'const port = 8080;' },
  '<tool_use_error>String to replace not found in file.\nString: const port = 3000;</tool_use_error>',
);
const tooLarge = failed(
  'Read',
  { file_path: '/repo/dist/bundle.js' },
  'File content (312.4KB) exceeds maximum allowed size (256KB). Use offset and limit parameters to read specific portions of the file, or use the GrepTool to search for specific content.',
);
const invalid = failed(
  'Write',
  {},
  'InputValidationError: Write failed due to the following issues:\nThe required parameter `file_path` is missing\nThe required parameter `content` is missing',
  { kind: 'invalid' },
);
const notRead = failed(
  'Edit',
  { file_path: '/repo/a.ts', old_string: 'a', new_string: 'b' },
  'File has not been read yet. Read it first before writing to it.',
);
const noChange = failed(
  'Edit',
  { file_path: '/repo/a.ts', old_string: 'a', new_string: 'a' },
  'No changes to make: old_string and new_string are exactly the same.',
);
const patch = failed(
  'apply_patch',
  { input: '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-let a\n+const a\n*** End Patch' },
  'apply_patch verification failed: Failed to find expected lines in /repo/src/a.ts:\nlet a',
);
const replace = failed(
  'replace',
  { file_path: '/repo/x.py', old_string: 'def f():', new_string: 'def g():', expected_replacements: 1 },
  'Failed to edit, could not find the string to replace.',
);
const elsewhere = failed(
  'Bash',
  { command: 'cd frontend && npm run build' },
  'Exit code 1\n/bin/bash: line 1: cd: frontend: No such file or directory',
);

/** The same call with the same error. */
export const spinningFailures: readonly SpinningShape[] = [
  spinning('an edit whose text is not found', () => notFound, { count: 30, source: 'anthropics/claude-code#30150' }),
  spinning('an edit whose text is not found, across two compactions', () => notFound, {
    count: 24,
    breaks: { 4: 'compaction', 9: 'compaction' },
  }),
  spinning('an edit whose text is not found, across a restart', () => notFound, {
    count: 24,
    breaks: { 7: 'restart' },
  }),
  spinning('an edit whose text is not found, with four other calls before each', () => notFound, {
    count: 14,
    between: 4,
  }),
  spinning('a file too large to read', () => tooLarge, { count: 49, source: 'qwen-code#10887' }),
  spinning('a file too large to read, with reads of other files between', () => tooLarge, {
    count: 18,
    between: (round) => round % 4,
    other: otherRead,
  }),
  spinning('a file too large to read, across a compaction after each third', () => tooLarge, {
    breaks: { 3: 'compaction', 6: 'compaction', 9: 'compaction', 12: 'compaction' },
  }),
  spinning('eighty-five malformed calls', () => invalid, { count: 85, source: 'hermes-agent#67829' }),
  spinning('malformed calls with shell commands between, across a restart', () => invalid, {
    count: 20,
    between: 2,
    other: otherShell,
    breaks: { 5: 'restart' },
  }),
  spinning('an edit of a file that was not read, after a healthy begin', () => notRead, {
    before: [otherRead(1), otherShell(2), ok('Bash', { command: 'git status' }, 'clean'), otherRead(3)],
  }),
  spinning('an edit without a change', () => noChange, { between: (round) => (round * 3) % 5 }),
  spinning('a patch whose lines are not there', () => patch, {
    source: 'Codex',
    breaks: { 6: 'compaction', 8: 'restart' },
  }),
  spinning('a replacement of a text that is not there', () => replace, { source: 'gemini-cli', between: 1 }),
  spinning('a folder that is not there', () => elsewhere, { between: 3, breaks: { 2: 'restart', 10: 'restart' } }),
];
