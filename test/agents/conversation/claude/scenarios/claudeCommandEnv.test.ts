import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { agentKind } from '../../../../../agents/conversation/agent.ts';
import { createGateway } from '../../../../../src/gateway/gateway.ts';
import { unwrap } from '../../../../../src/policy/failures/failure.ts';
import { temporaryDirectory } from '../../../../support/temporary.ts';

/** A command line of Claude that answers with what it was given in its environment. */
const program = `
  process.stdin.once('data', () => {
    const say = (message) => console.log(JSON.stringify({ session_id: 's1', ...message }));
    say({ type: 'system', subtype: 'init' });
    const result = ['OF_AGENT', 'OF_BOTH', 'OF_COMMAND'].map((name) => process.env[name]).join();
    say({ type: 'result', subtype: 'success', is_error: false, result });
  });
`;

it('[C-6] env goes to a command line in place of the SDK, that of the command over that of the agent', async () => {
  const file = join(temporaryDirectory(), 'claude.mjs');
  writeFileSync(file, program);
  const gateway = createGateway({ kinds: [agentKind] });
  onTestFinished(() => gateway.stop());
  const agent = gateway.agent('coder', {
    backend: 'claude',
    env: { OF_AGENT: 'a', OF_BOTH: 'a' },
    claude: { command: process.execPath, args: [file], env: { OF_BOTH: 'c', OF_COMMAND: 'c' } },
  });
  await gateway.start();
  const conversation = unwrap(await agent.start());
  expect(await conversation.send('hi').outcome).toMatchObject({ ok: true, value: { text: 'a,c,c' } });
});
