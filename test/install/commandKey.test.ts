import { describe, expect, it } from 'vitest';
import { commandKey } from '../../install/commandKey.ts';

describe('the key of a command', () => {
  it.each([
    ['git', ['status'], 'git'],
    ['/usr/local/bin/guard.sh', [], 'guard.sh'],
    ['C:\\tools\\guard.exe', [], 'guard.exe'],
    ['/usr/bin/guard.sh//', [], 'guard.sh'],
    ['//', [], ''],
    ['/usr/bin/python3', ['-u', 'hooks/guard.py', '--strict'], 'guard.py'],
    ['python3.12', ['-m', 'guard.main'], 'guard.main'],
    ['python3', ['-c', 'print(1)'], 'python3'],
    ['node', ['--import', './setup.js', './hooks/log.mjs', 'x'], 'log.mjs'],
    ['node', ['-e', '0'], 'node'],
    ['node', [], 'node'],
    ['npx', ['-y', '@acme/guard@2', '--strict'], '@acme/guard'],
    ['npx', ['-p', 'some-package@1', 'guard'], 'some-package'],
    ['bun', ['run', 'guard.ts'], 'guard.ts'],
    ['bash', ['hooks/guard.sh', 'a'], 'guard.sh'],
    ['sh', ['-c', 'LEVEL=2 "$CLAUDE_PROJECT_DIR"/hooks/guard.sh --strict'], 'guard.sh'],
    ['sh', ['-c', 'cd /x && guard.sh'], 'sh'],
    ['sh', ['-ec', 'true'], 'sh'],
    ['sh', [], 'sh'],
  ])('[H-3] [L-4] of %s %j is %s', (command, args, key) => {
    expect(commandKey(command, args)).toBe(key);
  });
});
