import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nearestPackage, planMcp } from '../../../cli/mcp/plan.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** A directory `files/dist/deep` with these texts as `package.json`, by their directory. */
function tree(texts: Readonly<Record<string, string>>): string {
  const root = join(temporaryDirectory(), 'files');
  mkdirSync(join(root, 'dist', 'deep'), { recursive: true });
  for (const [directory, text] of Object.entries(texts)) writeFileSync(join(root, directory, 'package.json'), text);
  return join(root, 'dist', 'deep', 'index.js');
}

const args = {
  name: undefined,
  'idle-timeout': undefined,
  'when-alive': undefined,
  tasks: undefined,
  keep: undefined,
  'max-result': undefined,
  spinning: undefined,
  'call-timeout': undefined,
  'tool-timeout': [],
  allow: [],
  deny: [],
  pin: false,
  'start-timeout': undefined,
  retry: undefined,
  'env-allow': [],
  config: undefined,
  log: undefined,
  ...{
    servers: undefined,
    listen: undefined,
    shared: false,
    inbox: false,
    otel: false,
    'no-cache': false,
    'token-file': undefined,
    'no-token': false,
  },
  ...{
    'session-timeout': undefined,
    'max-sessions': 32,
    url: undefined,
    transport: undefined,
    device: false,
    'sign-in': false,
  },
  ...{ 'header-env': [], 'header-file': undefined, 'client-id': undefined, 'client-secret-env': undefined },
  ...{ scope: undefined, 'callback-port': undefined },
  json: false,
  db: undefined,
  operands: [],
};

describe('the nearest package of a file', () => {
  it('[P-3] is the first one above it that has a name', () => {
    expect(nearestPackage(tree({ 'dist/deep': '{"type":"module"}', '.': '{"name":"@acme/files"}' }))).toBe(
      '@acme/files',
    );
    expect(nearestPackage(tree({ dist: '{"name":"near"}', '.': '{"name":"far"}' }))).toBe('near');
  });

  it.each(['{', '7', 'null', '{"name":7}', '{"name":"\\u001b[2J"}', '{"name":"a b"}'])(
    '[P-3] [O-8] is none that cannot be read or shown: %s',
    (text) => {
      expect(nearestPackage(tree({ dist: text, '.': '{"name":"files"}' }))).toBe('files');
    },
  );

  it.skipIf(process.platform === 'win32')(
    '[P-3] is not waited for where it is a pipe, nor looked for in a large file',
    () => {
      const script = tree({ dist: `{"name":"large","x":"${'x'.repeat(1024 * 1024)}"}`, '.': '{"name":"files"}' });
      execFileSync('mkfifo', [join(dirname(script), 'package.json')]);
      expect(nearestPackage(script)).toBe('files');
    },
  );

  it('[P-3] is that of what a link leads to', () => {
    const script = tree({ '.': '{"name":"files"}' });
    writeFileSync(script, '');
    const link = tree({ '.': '{"name":"host"}' });
    symlinkSync(script, link);
    expect(nearestPackage(link)).toBe('files');
  });
});

describe('the name of a proxy', () => {
  it('[P-3] is that of the package its script belongs to', () => {
    const script = tree({ '.': '{"name":"@acme/files"}' });
    expect(planMcp(args, ['node', script], {}).name).toBe('files');
  });

  it('[P-3] is the one it was given, whatever it runs', () => {
    const script = tree({ '.': '{"name":"@acme/files"}' });
    expect(planMcp({ ...args, name: 'mine' }, ['node', script], {}).name).toBe('mine');
  });
});
