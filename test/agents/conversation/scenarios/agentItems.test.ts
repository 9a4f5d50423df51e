import { describe, expect, it, onTestFinished } from 'vitest';
import { workflowKind } from '../../../../workflow/workflow.ts';
import { createGateway } from '../../../../src/index.ts';
import { unwrap } from '../../../../src/policy/failures/failure.ts';
import { fakeClaude } from '../../../support/fakeClaude.ts';
import { backend, item } from '../../../workflow/startWorkflow.ts';

/** What two runs of Claude got, in one item of this many attempts that gives its signal to the first alone. */
async function retriesGiven(maxAttempts: number): Promise<readonly unknown[]> {
  const fake = fakeClaude({ text: 'hello' });
  const gateway = createGateway({ kinds: [workflowKind], alerts: false, logger: false });
  onTestFinished(() => gateway.stop());
  const claude = gateway.subprocess('claude', {
    command: fake.command,
    args: [...fake.args, '-p', '--output-format', 'stream-json', '--verbose'],
    env: fake.env,
    agent: 'claude',
  });
  const workflow = gateway.workflow<string, string, string>('deploy', {
    backends: [
      backend('primary', [item('a', [], { maxAttempts })], {
        async item(_item, { signal }) {
          unwrap(await claude.call({ prompt: 'with' }, { signal }));
          unwrap(await claude.call({ prompt: 'without' }, { maxAttempts: 1 }));
          return 'done';
        },
      }),
    ],
  });
  await gateway.start();
  expect(await workflow.run('input').outcome).toMatchObject({ status: 'succeeded' });
  return fake.runs().map(({ retries }) => retries);
}

describe('the retries inside of an agent that an item runs', () => {
  const own = process.env['CLAUDE_CODE_MAX_RETRIES'];

  it('[R-6] [W-4] are bounded where the item is tried again', async () => {
    expect(await retriesGiven(3)).toEqual(['1', own]);
  });

  it('[R-6] [W-4] are all there is, and left alone, where the item has one attempt', async () => {
    expect(await retriesGiven(1)).toEqual([own, own]);
  });
});
