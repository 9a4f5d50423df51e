import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type LostAnswer, type RunRequest, type SubprocessOptions } from '../../../../src/index.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';

/** Writes a file, and is killed before it says so; or before it has written it. */
const publish = `
const [file, when] = process.argv.slice(1);
if (when === 'after') require('node:fs').writeFileSync(file, 'published');
process.kill(process.pid, 'SIGKILL');
`;

async function startPublisher(options: Pick<SubprocessOptions, 'reconcile'>) {
  const gateway = createGateway({ control: false });
  onTestFinished(() => gateway.stop());
  const publisher = gateway.subprocess('publish', {
    command: process.execPath,
    args: ['-e', publish],
    policy: { retry: { maxAttempts: 2, backoff: { kind: 'constant', delayMs: 1 } } },
    ...options,
  });
  await gateway.start();
  const file = join(temporaryDirectory(), 'page');
  const run = (when: 'before' | 'after') => publisher.call({ args: [file, when] }, { effect: 'mutating' });
  return { gateway, file, run };
}

const probe = ({ input: { args = [] } }: LostAnswer<RunRequest>) =>
  existsSync(args[0] ?? '') ? ({ done: 'published', how: 'the page is there' } as const) : 'not_done';

describe('a command with a reconcile rule', () => {
  it('[R-16] whose end is lost is answered with what its probe found', async () => {
    const { run } = await startPublisher({ reconcile: { probe } });
    expect(await run('after')).toMatchObject({
      ok: true,
      value: { reason: 'exit', exitCode: 0, stdout: { text: 'published', bytes: 9 } },
      reconciled: 'the page is there',
    });
  });

  it('[R-16] is run again where the rule vouches that it did nothing, and no further', async () => {
    const { run, file } = await startPublisher({ reconcile: { probe, notBefore: 1 } });
    expect(await run('before')).toMatchObject({ ok: false, failure: { attempts: 2, outcome: 'not_done' } });
    expect(existsSync(file)).toBe(false);
  });

  it('[R-16] is asked about by a tool of another integration, with the request as its input', async () => {
    const gateway = createGateway({ control: false });
    onTestFinished(() => gateway.stop());
    gateway.integration('site', { tools: { pages: { effect: 'readOnly' } } }, () => [{ id: 'p1', path: '/a' }]);
    const reconcile = { integration: 'site', tool: 'pages', match: { path: 'input.stdin' } } as const;
    const publisher = gateway.subprocess('publish', { command: process.execPath, args: ['-e', publish], reconcile });
    await gateway.start();
    const outcome = await publisher.call({ stdin: '/a' }, { effect: 'mutating' });
    expect(outcome).toMatchObject({ ok: false, failure: { outcome: 'done', how: 'pages lists it as p1' } });
  });

  it('[R-16] has no place for an idempotency key', () => {
    const gateway = createGateway({ control: false });
    onTestFinished(() => gateway.stop());
    expect(() =>
      gateway.subprocess('publish', { command: 'publish', reconcile: { idempotencyKey: { in: 'meta' } } }),
    ).toThrow('Expected `publish.reconcile` to be probe or tool: there is no place for an idempotency key');
  });
});
