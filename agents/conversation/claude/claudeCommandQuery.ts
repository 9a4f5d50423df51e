import { createLineSplitter, messageIn, recordIn, textIn } from '../../../src/protocol/face.ts';
import type {
  SdkCanUseTool,
  SdkMessage,
  SdkOptions,
  SdkProcess,
  SdkQuery,
  SdkQueryFunction,
  SdkSpawnOptions,
  SdkUserMessage,
} from './agentSdkTypes.ts';

/** A `claude` that is run without the SDK. */
interface ClaudeCommand {
  readonly command: string;
  /** Come before all others. */
  readonly args: readonly string[];
}

/** Longest message of Claude's, in bytes: a result of a tool may be as long as its file. */
const longestMessageBytes = 64 * 1024 * 1024;

/**
 * A query as the SDK's, over the command line itself: messages as lines on stdin and stdout, and of its control requests those for
 * leave to use a tool and for an interrupt.
 */
export function commandQuery({ command, args }: ClaudeCommand): SdkQueryFunction {
  return ({ prompt, options = {} }) => {
    const spawn = options['spawnClaudeCodeProcess'] as (asked: SdkSpawnOptions) => SdkProcess;
    const child = spawn({
      command,
      args: [...args, ...argumentsOf(options)],
      cwd: textIn(options['cwd']),
      env: options['env'] as SdkSpawnOptions['env'],
    });
    return converse(child, prompt, options);
  };
}

function converse(child: SdkProcess, prompt: AsyncIterable<SdkUserMessage>, options: SdkOptions): SdkQuery {
  const canUseTool = options['canUseTool'] as SdkCanUseTool | undefined;
  const asked = new Map<string, AbortController>();
  let interrupts = 0;

  const write = (message: object): void => {
    if (child.stdin.writable) child.stdin.write(`${JSON.stringify(message)}\n`);
  };
  void feed(prompt, write).then(() => child.stdin.end());

  async function decide(id: string, request: SdkMessage): Promise<void> {
    const controller = new AbortController();
    asked.set(id, controller);
    const input = { ...recordIn(request['input']) };
    const context = { signal: controller.signal, toolUseID: textIn(request['tool_use_id']) };
    const nobody = { behavior: 'deny', message: 'Nobody is there to be asked' };
    const answer = await Promise.resolve(
      canUseTool?.(textIn(request['tool_name']) ?? '', input, context) ?? nobody,
    ).catch((error: unknown) => ({ behavior: 'deny', message: String(error) }));
    asked.delete(id);
    write({ type: 'control_response', response: { subtype: 'success', request_id: id, response: answer } });
  }

  /** Tells whether it is for the reader of the query. */
  function isForReader(message: SdkMessage): boolean {
    const id = textIn(message['request_id']) ?? '';
    switch (message['type']) {
      case 'control_request': {
        const request = recordIn(message['request']) ?? {};
        if (request['subtype'] === 'can_use_tool') void decide(id, request);
        else {
          const error = 'Not supported here';
          write({ type: 'control_response', response: { subtype: 'error', request_id: id, error } });
        }
        return false;
      }
      case 'control_cancel_request':
        asked.get(id)?.abort();
        return false;
      case 'control_response':
      case 'keep_alive':
        return false;
      default:
        return true;
    }
  }

  async function* messages(): AsyncGenerator<SdkMessage, void, void> {
    const exited = exitOf(child);
    for await (const message of messagesOf(child)) if (isForReader(message)) yield message;
    const { error, code, signal } = await exited;
    for (const controller of asked.values()) controller.abort();
    if (error !== undefined) throw error;
    if (signal !== null) throw new Error(`Claude Code process terminated by signal ${signal}`);
    if (code !== 0) throw new Error(`Claude Code process exited with code ${String(code)}`);
  }

  return {
    [Symbol.asyncIterator]: messages,
    interrupt() {
      const request_id = `interrupt-${++interrupts}`;
      write({ type: 'control_request', request_id, request: { subtype: 'interrupt' } });
      return Promise.resolve();
    },
  };
}

/** Returns those of the SDK's options that a command line of a conversation needs. */
function argumentsOf(options: SdkOptions): readonly string[] {
  const { model, resume } = options;
  return [
    ...['-p', '--output-format', 'stream-json', '--verbose', '--input-format', 'stream-json'],
    ...(options['includePartialMessages'] === true ? ['--include-partial-messages'] : []),
    ...(options['canUseTool'] === undefined ? [] : ['--permission-prompt-tool', 'stdio']),
    ...(typeof model === 'string' ? [`--model=${model}`] : []),
    ...(typeof resume === 'string' ? ['--resume', resume] : []),
  ];
}

async function feed(prompt: AsyncIterable<SdkUserMessage>, write: (message: object) => void): Promise<void> {
  for await (const message of prompt) write(message);
}

async function* messagesOf({ stdout }: SdkProcess): AsyncGenerator<SdkMessage, void, void> {
  const waiting: SdkMessage[] = [];
  const lines = createLineSplitter({
    maxBytes: longestMessageBytes,
    onLine(line) {
      const message = messageIn(line);
      if (message !== undefined) waiting.push(message);
    },
    onTooLong: () => undefined,
  });
  for await (const chunk of stdout) {
    lines.push(chunk as Buffer);
    yield* waiting.splice(0);
  }
  lines.end();
  yield* waiting;
}

interface Exit {
  readonly error?: Error | undefined;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

function exitOf(child: SdkProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code: unknown, signal?: unknown) => {
      resolve({ code: code as number | null, signal: (signal ?? null) as NodeJS.Signals | null });
    });
    child.once('error', (error: unknown) => resolve({ error: error as Error, code: null, signal: null }));
  });
}
