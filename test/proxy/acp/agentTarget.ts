import type { Clock } from '../../../src/policy/clock.ts';
import type { ServerEnd, ServerLink, ServerLinkListener, ServerTarget } from '../../../src/actors/mcp/serverLink.ts';
import { type InProcessAcpAgent, type InProcessAcpAgentOptions, inProcessAcpAgent } from '../../../testing/index.ts';

/** An agent that is started in this process, again and again, on the clock of its test. */
export interface AgentTarget extends ServerTarget {
  /** Those that were started, in order. */
  readonly agents: readonly InProcessAcpAgent[];
}

/** Makes one. @param options - of each start, from 1. */
export function agentTarget(options: (start: number) => InProcessAcpAgentOptions): AgentTarget {
  const agents: InProcessAcpAgent[] = [];
  return {
    agents,
    command: 'faulty-agent',
    secrets: {},
    handshakeMs: 60_000,
    pingMs: 5000,
    maxMessageBytes: 64 * 1024 * 1024,
    mayGoOn: false,
    open: (clock, listener) =>
      new AgentInProcess(clock, listener, () => {
        const agent = inProcessAcpAgent({ clock, ...options(agents.length + 1) });
        agents.push(agent);
        return agent;
      }),
  };
}

class AgentInProcess implements ServerLink {
  readonly pid = undefined;
  readonly isFull = false;
  end: ServerEnd | undefined = undefined;
  exit: Pick<ServerEnd, 'exitCode' | 'signal'> = {};
  exited: Promise<void> = Promise.resolve();
  readonly #clock: Clock;
  readonly #listener: ServerLinkListener;
  readonly #begin: () => InProcessAcpAgent;
  #agent: InProcessAcpAgent | undefined;

  constructor(clock: Clock, listener: ServerLinkListener, begin: () => InProcessAcpAgent) {
    this.#clock = clock;
    this.#listener = listener;
    this.#begin = begin;
  }

  async start(): Promise<void> {
    await Promise.resolve();
    const agent = this.#begin();
    this.#agent = agent;
    agent.stdout.on('data', (chunk: Buffer | string) => this.#listener.output(Buffer.from(chunk)));
    agent.stdout.on('end', () => this.#listener.outputEnded());
    this.exited = agent.exited.then((end) => {
      this.exit = 'code' in end ? { exitCode: end.code } : { signal: end.signal };
      this.#clock.nextTurn(() => this.finish(this.exit));
    });
    this.#listener.started(undefined);
  }

  write(data: string | Uint8Array): boolean {
    if (this.end !== undefined) return false;
    this.#agent?.stdin.write(data);
    return true;
  }

  gather(): () => void {
    return () => undefined;
  }

  pauseOutput(): void {
    this.#agent?.stdout.pause();
  }

  resumeOutput(): void {
    this.#agent?.stdout.resume();
  }

  endInput(): void {
    this.#agent?.stdin.end();
  }

  async close(): Promise<void> {
    this.endInput();
    await this.terminate();
  }

  async terminate(): Promise<void> {
    await Promise.resolve();
    this.killNow();
  }

  killNow(): void {
    this.#agent?.kill();
    this.finish({ ...this.exit, fault: 'abandoned' });
  }

  finish(end: ServerEnd): void {
    if (this.end !== undefined) return;
    this.end = end;
    this.#listener.ended();
  }
}
