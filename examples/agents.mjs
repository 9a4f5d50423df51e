import { createGateway } from 'unwedge';
import { agentKind } from 'unwedge/agents';

const gateway = createGateway({ store: ':memory:', kinds: [agentKind] });
const reviewer = gateway.agent('reviewer', { backend: 'codex' });
const coder = gateway.agent('coder', {
  backend: 'claude',
  claude: { command: process.env['CLAUDE'] ?? 'claude' },
  fallback: reviewer,
  approve: ({ payload }) => (Object(payload).tool === 'Read' ? 'accept' : 'decline'),
});

await gateway.start();
const started = await coder.start();
if (started.ok) {
  const turn = started.value.send(process.argv[2] ?? 'What does this project do?');
  for await (const event of turn) if (event.type === 'text') console.log(event.text);
  const outcome = await turn.outcome;
  console.log(
    outcome.ok ? `answered by ${outcome.value.agent}` : `${outcome.failure.kind}: ${outcome.failure.message}`,
  );
}
await gateway.stop();
