import { chmodSync, copyFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../support/temporary.ts';

const example = fileURLToPath(new URL('../../examples/nightly.sh', import.meta.url));
const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** What `claude --output-format json` says of an API that is away, before it did anything. */
const unavailable = JSON.stringify({
  type: 'result',
  subtype: 'success',
  is_error: true,
  api_error_status: 503,
  num_turns: 1,
  result: 'API Error: 503 Service Unavailable',
});

/** A directory as cron would find it: the script, the prompt, `npx` and a `claude` that answers at its second attempt. */
function makeReports(): string {
  const home = temporaryDirectory();
  const program = (name: string, text: string): void => {
    writeFileSync(join(home, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(home, name), 0o755);
  };
  copyFileSync(example, join(home, 'nightly.sh'));
  writeFileSync(join(home, 'prompt.txt'), 'Summarise the log of today.');
  program('npx', `shift; exec "${process.execPath}" "${main}" "$@"`);
  program(
    'claude',
    [
      `if [ ! -e tried ]; then touch tried; echo '${unavailable}'; exit 1; fi`,
      `printf '{"type":"result","subtype":"success","is_error":false,"result":"%s"}\\n' "$(cat)"`,
    ].join('\n'),
  );
  return home;
}

it('[L-4] the nightly example retries, and prints the answer of the attempt that succeeded', async () => {
  const home = makeReports();
  const { stdout, stderr, exitCode } = await execa(join(home, 'nightly.sh'), [], {
    cwd: home,
    env: { PATH: [home, process.env['PATH']].join(delimiter), HOME: home, UNWEDGE_DB: join(home, 'unwedge.sqlite') },
    extendEnv: false,
    reject: false,
  });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ is_error: false, result: 'Summarise the log of today.' });
  expect(stderr).toContain('attempt 1 failed (transient: API Error: 503 Service Unavailable)');
});
