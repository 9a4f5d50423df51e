// An MCP server does the work; where it cannot, goose goes on: `node workflow-goose.mjs [--headless] [GOOSE [ARGUMENTS…]]`
import { spawnSync } from 'node:child_process';
import { createGateway, unwrap } from 'unwedge';
import { agentKind } from 'unwedge/agents';
import { faultyMcpServer } from 'unwedge/testing';
import { serverSentEvents, workflowKind } from 'unwedge/workflow';

const words = process.argv.slice(2);
const isHeadless = words[0] === '--headless' && words.shift() !== undefined;
const [command = 'goose', ...args] = words;
if (spawnSync(command, ['--version']).error) {
  console.error(`There is no ${command}. Install goose: https://goose-docs.ai`);
  console.error('Then run `goose configure`, which asks for a model and its key.');
  process.exit(1);
}

const gateway = createGateway({ kinds: [agentKind, workflowKind] });

// A server of yours in its place: { command: 'npx', args: ['-y', '@acme/desk-mcp'] }. This one can fetch, and nothing else.
const desk = gateway.mcpServer('desk', {
  ...faultyMcpServer({
    tools: ['fetch'],
    faults: [{ tool: 'mail', do: 'error', code: -32601, message: 'No mail here' }],
  }),
  policy: { restartWaitMs: 20_000 },
});

// Goose over the Agent Client Protocol: one process for all items, a conversation each.
const goose = gateway.agent('goose', { acp: { command, ...(args.length > 0 && { args }) } });
// Goose as a command: a process for each item. Its exit code is 0 even when its model fails; its own word counts.
const gooseRun = gateway.subprocess('goose-run', {
  command,
  args: [...args, 'run', '-q', '--no-session', '--output-format', 'stream-json', '-i', '-'],
  agent: 'goose',
});

// Both make the same plan: what the server has done is handed over by its id, and not done again.
const plan = () => ({
  success: true,
  todo: {
    mode: 'sequential',
    items: [
      { id: 'fetch', action: 'fetch the prices', mcp_servers: ['desk'] },
      { id: 'mail', action: 'write a mail about the prices', mcp_servers: ['desk'], dependencies: ['fetch'] },
    ],
  },
});
const report = gateway.workflow('report', {
  backends: [
    {
      name: 'mcp',
      plan,
      async item({ id, action }, { signal }) {
        const { content } = unwrap(await desk.call({ name: id, arguments: { action } }, { signal }));
        return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
      },
      // Whatever it cannot do ends its run. By default that is for a refused key or a used-up quota, and other items go on.
      isCritical: () => true,
    },
    {
      name: 'goose',
      plan,
      async item({ action }, { signal, touch, done }) {
        const prompt = `Do this, and answer with the result alone: ${action}. What is known: ${[...done.values()].join()}`;
        if (isHeadless) return unwrap(await gooseRun.call({ prompt }, { signal })).agent?.text ?? '';
        const conversation = unwrap(await goose.start({ signal }));
        try {
          const turn = conversation.send(prompt, { signal });
          for await (const _ of turn) touch();
          return unwrap(await turn.outcome).text;
        } finally {
          await conversation.stop();
        }
      },
    },
  ],
});

await gateway.start();
const run = report.run('daily');
// What a web server sends to a browser; `writeServerSentEvents(run, response)` is the same for node:http.
for await (const frames of (await serverSentEvents(run)).body ?? []) process.stdout.write(frames);
const { status, items, failure } = await run.outcome;
for (const item of items)
  console.log(`${item.id} by ${item.backend}: ${item.status === 'done' ? item.value : item.status}`);
console.log(failure === undefined ? status : `${status}: ${failure.message}`);
await gateway.stop();
process.exitCode = status === 'succeeded' ? 0 : 1;
