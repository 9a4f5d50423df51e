import { defineCommand, flag } from '../command.ts';

export const command = defineCommand({
  usage: 'mcp-self [--allow-restart] [--db FILE]',
  details: [
    'Serves MCP over stdin and stdout with the tools status, why, events and report, which only read and answer as the commands of the same',
    'names do. With --allow-restart an agent may also restart an integration or a session. For example:',
    '  claude mcp add unwedge -- npx -y unwedge mcp-self',
    '  codex mcp add unwedge -- npx -y unwedge mcp-self',
    'Ends when its client closes stdin.',
  ].join('\n'),
  options: { 'allow-restart': flag('offer the tool restart as well') },
  ownsNoOutput: true,
  async run(args, io) {
    const { questions, restartTool } = await import('./tools.ts');
    const { serveSelf } = await import('./server.ts');
    const tools = args['allow-restart'] ? [...questions, restartTool] : questions;
    await serveSelf(tools, args.db, io, { input: process.stdin, output: process.stdout });
    io.endWithCommand?.();
    return 0;
  },
});
