import { createGateway } from 'unwedge';

const gateway = createGateway();
const kb = gateway.mcpServer('kb', {
  command: process.execPath,
  args: ['node_modules/@modelcontextprotocol/server-everything/dist/index.js'],
  tools: { echo: { effect: 'readOnly' } },
  // A call may come before the server is up, and waits for it.
  policy: { restartWaitMs: 20_000 },
});
const node = gateway.subprocess('node', { command: process.execPath, policy: { limits: { idleMs: 5_000 } } });
gateway.hook('PreToolUse', ({ action }) => (action === 'rm' ? { decision: 'block', reason: 'not here' } : undefined));

await gateway.start();
const echo = await kb.call({ name: 'echo', arguments: { message: 'hello' } });
console.log(echo.ok ? echo.value.content : echo.failure.message);

const run = await node.call({ args: ['-p', '6 * 7'] });
console.log(run.ok ? run.value.stdout.text.trim() : run.failure.message);

const verdict = await gateway.runHooks({ event: 'PreToolUse', action: 'rm' });
console.log(verdict.decision, verdict.reason);
await gateway.stop();
