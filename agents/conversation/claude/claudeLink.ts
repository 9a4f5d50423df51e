import type { ProcessExit } from '../../../src/machines/face.ts';
import { recordIn } from '../../../src/protocol/face.ts';
import { ReaderQueue } from '../../../src/telemetry/face.ts';
import type { SdkMessage, SdkOptions, SdkQuery, SdkQueryFunction, SdkUserMessage } from './agentSdkTypes.ts';
import { type ClaudeProcess, type ProcessRuntime, startClaudeProcess } from './claudeSdkProcess.ts';

/** End of a query that gives no more messages. */
export interface LinkEnd {
  /** Error that it threw. */
  readonly error?: unknown;
  /** Exit of its process, where it had one. */
  readonly exit?: ProcessExit | undefined;
}

/** Running query of the SDK, and the process behind it. */
export interface ClaudeLink {
  /** True while something said to it may still be answered. */
  readonly isOpen: boolean;
  /** Hears each message, with those of nobody's turn. Must not throw. */
  listener: ((message: SdkMessage) => void) | undefined;
  /** Resolves, after everything of it is gone, when no message comes any more. Never rejects. */
  readonly ended: Promise<LinkEnd>;
  send(message: SdkUserMessage): void;
  /** Asks Claude to end its turn; whether it does, its messages tell. */
  interrupt(): void;
  /** Ends query and process, and everything below it. Resolves when they are gone. Never rejects. */
  close(): Promise<void>;
}

interface LinkOptions {
  readonly runtime: ProcessRuntime;
  readonly query: SdkQueryFunction;
  /** Names the child of the root supervisor. */
  readonly processId: string;
  readonly graceMs: number;
  readonly options: SdkOptions;
}

/** Time in ms that a query may take to end once its process has; its messages are in its pipe by then. */
const tailMs = 2000;

/** Starts a query and reads it to its end. Whatever it throws, at once or later, is how it ended. */
export function openLink({ runtime, query, processId, graceMs, options }: LinkOptions): ClaudeLink {
  const { clock } = runtime;
  const controller = new AbortController();
  /** Words to the query, in order, for as long as it listens. */
  const words = new ReaderQueue<SdkUserMessage>({ limit: Number.POSITIVE_INFINITY });
  const onStderr = stderrListener(options);
  let running: SdkQuery | undefined;
  let child: ClaudeProcess | undefined;
  let open = true;
  let endPump: (end: LinkEnd) => void = () => undefined;
  const pumped = new Promise<LinkEnd>((resolve) => {
    endPump = resolve;
  });

  const link: ClaudeLink = {
    get isOpen() {
      return open;
    },
    listener: undefined,
    ended: pumped.then(finish),
    send: (message) => words.push(message),
    interrupt() {
      // Refused, or never answered: then its process is ended.
      void Promise.resolve(running)
        .then((asked) => asked?.interrupt())
        .then(noop, noop);
    },
    async close() {
      open = false;
      controller.abort();
      void words.return();
      child?.kill();
      giveUpAfter(tailMs);
      await link.ended;
    },
  };

  function spawn(asked: Parameters<typeof startClaudeProcess>[2]): ClaudeProcess['process'] {
    const started = startClaudeProcess(runtime, processId, asked, { graceMs, onStderr });
    child = started;
    // Asked for after the end: nobody else would end it.
    if (!open) started.kill();
    // A process that has ended says nothing more, whatever the query makes of it.
    void started.gone.then(() => {
      open = false;
      giveUpAfter(tailMs);
    });
    return started.process;
  }

  function giveUpAfter(ms: number): void {
    const timer = clock.setTimeout(() => endPump({}), ms, { ref: true });
    void pumped.then(() => clock.clearTimeout(timer));
  }

  async function pump(): Promise<void> {
    try {
      running = query({
        prompt: words,
        options: { ...options, abortController: controller, spawnClaudeCodeProcess: spawn },
      });
      for await (const message of running) {
        const record = recordIn(message);
        if (record !== undefined) link.listener?.(record);
      }
      endPump({});
    } catch (error) {
      endPump({ error });
    }
  }

  async function finish(end: LinkEnd): Promise<LinkEnd> {
    open = false;
    void words.return();
    child?.kill();
    return { ...end, exit: await child?.gone };
  }

  void pump();
  return link;
}

/** With a process of ours the SDK does not see its stderr. What its listener throws is its own loss. */
function stderrListener({ stderr }: SdkOptions): ((text: string) => void) | undefined {
  if (typeof stderr !== 'function') return undefined;
  const listener = stderr as (text: string) => unknown;
  return (text) => {
    try {
      listener(text);
    } catch {
      // Nobody to tell: stderr is for people.
    }
  };
}

function noop(): void {}
