import { fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { superviseMcpServer } from '../../proxy/boundary/superviseMcpServer.ts';
import type { Io } from '../io.ts';
import { ownVersion } from '../doctor/ownVersion.ts';
import { runCommandLine } from '../run.ts';
import { inputSchema, type SelfTool, wordsOf } from './tools.ts';

/** A model pays for each character: what is longer is cut at a line, and says so. */
const mostCharacters = 24_000;
/** Width of no terminal: a model has no other way to see what one would cut. */
const columns = Number.POSITIVE_INFINITY;
/** A question reads a file and asks live gateways, each for 2 s at most. */
const overallMs = 30_000;

const instructions =
  'What supervises the MCP servers, APIs, commands and sessions that you use. Ask `status` when a tool fails or does not answer, ' +
  '`why` for what a session waits for and when that ends.';

/** An MCP server whose tools are commands of unwedge, answered as they would be on a terminal, without colours. */
export function createSelfServer(
  tools: readonly SelfTool[],
  db: string | undefined,
  io: Pick<Io, 'env' | 'signal' | 'now'>,
): McpServer {
  const server = new McpServer(
    { name: 'unwedge', version: ownVersion() },
    { capabilities: { tools: {} }, instructions },
  );
  superviseMcpServer(server, { name: 'unwedge', overallMs });
  for (const tool of tools) {
    const { name } = tool.command;
    server.registerTool(
      name,
      {
        title: `unwedge ${name}`,
        description: tool.description,
        inputSchema: fromJsonSchema<Readonly<Record<string, unknown>>>(inputSchema(tool)),
        annotations: { readOnlyHint: !tool.acts, destructiveHint: tool.acts, openWorldHint: false },
      },
      async (input, { mcpReq }) => {
        const words = [...(db === undefined ? [] : ['--db', db]), ...wordsOf(tool, input)];
        const { code, text } = await answer(words, { ...io, signal: AbortSignal.any([io.signal, mcpReq.signal]) });
        return { content: [{ type: 'text', text }], isError: code !== 0 };
      },
    );
  }
  return server;
}

/** Answers with the print of a command line, both streams in the order in which they came. */
async function answer(
  words: readonly string[],
  { env, signal, now }: Pick<Io, 'env' | 'signal' | 'now'>,
): Promise<{ readonly code: number; readonly text: string }> {
  let printed = '';
  const output = {
    write: (text: string) => {
      printed += text;
    },
  };
  const code = await runCommandLine(words, {
    stdout: output,
    stderr: output,
    env: { ...env, NO_COLOR: '1' },
    isTTY: false,
    columns,
    signal,
    now,
  });
  return { code, text: bounded(printed) };
}

function bounded(text: string): string {
  if (text.length <= mostCharacters) return text;
  const end = text.lastIndexOf('\n', mostCharacters);
  const kept = text.slice(0, end < 0 ? mostCharacters : end);
  const left = text.slice(kept.length + 1).split('\n').length;
  return `${kept}\n(${left} more ${left === 1 ? 'line is' : 'lines are'} left out: ask for less, as with limit or since.)\n`;
}
