import type {
  Agent,
  AgentApproval,
  AgentEvent,
  AgentResult,
  Conversation,
} from '../../agents/conversation/agentTypes.ts';
import type { AgentMethods } from '../../agents/conversation/agent.ts';
import type { Clock, IntegrationPolicy, Limits } from '../../src/policy/face.ts';
import type { Failure, FailureKind } from '../../src/policy/failures/face.ts';
import { readValue, text } from '../../src/policy/options/face.ts';
import type { Gateway } from '../../src/gateway/face.ts';
import type { ToolRequest } from '../../src/sessions/face.ts';
import { type AttemptContext, type InnerLimit, tellInnerLimits } from '../../src/calls/face.ts';
import { waitingForPlaces } from './places.ts';
import { OpenConversations } from './openConversations.ts';
import type { FactRedactor } from '../../src/redaction/face.ts';
import { approvedTools } from './judgeServed.ts';
import type { ServedAgent } from './serveTypes.ts';

/** Turns at a time, of all sessions; the agent's own policy has a limit that is meant. */
const mostTurns = 100_000;
/** A turn ends by the limits of its agent; this is for one that has none. */
const longestTurnMs = 24 * 3_600_000;
/** Time that a turn may take beyond all of its agents, in ms: a conversation is begun, and let go. */
const besideMs = 300_000;

/** Question to an agent in a session. */
export interface AgentQuestion {
  readonly session: string;
  readonly text: string;
  /** Id that resumes the conversation of before. @defaultValue a new one is begun */
  readonly conversation?: string | undefined;
}

/** Answer of an agent; a failure is an answer too, as it was judged by the agent's own integration. */
export interface AgentAnswer extends Partial<Pick<AgentResult, 'text' | 'usage'>> {
  /** The agent that answered. */
  readonly agent: string;
  readonly conversation?: string | undefined;
  readonly failure?: { readonly kind: FailureKind; readonly message: string; readonly retryable: boolean } | undefined;
}

/** The integration by which sessions ask an agent: its calls are in the ledger of the session, and its answers with them. */
export const turnsOf = (agent: string): string => `turn:${agent}`;

const keyOf = (session: string, agent: string): string => JSON.stringify([session, agent]);

/** The tool of it. */
export const askTool = 'ask';

/** Agents as sessions ask them. */
export class AgentTurns {
  /** In the order of their file: the first is asked where nothing says which. */
  readonly names: readonly string[];
  readonly #agents = new Map<string, Agent>();
  readonly #policies = new Map<string, IntegrationPolicy>();
  readonly #policyOf: (name: string, agent: ServedAgent) => IntegrationPolicy;
  readonly #open: OpenConversations;
  readonly #tell: (session: string, agent: string, event: AgentEvent) => void;
  readonly #redact: FactRedactor;
  readonly #clock: Clock;

  /**
   * @param policyOf - of an agent that is served so.
   * @param tell - hears what happens in each turn.
   * @param redact - takes secrets out of the words of failures, which are handed out and kept.
   * @throws TypeError or RangeError that names the agent, the option and its value.
   */
  constructor(
    gateway: Gateway & AgentMethods,
    agents: Readonly<Record<string, ServedAgent>>,
    clock: Clock,
    policyOf: (name: string, agent: ServedAgent) => IntegrationPolicy,
    tell: (session: string, agent: string, event: AgentEvent) => void,
    redact: FactRedactor,
  ) {
    this.#policyOf = policyOf;
    this.#tell = tell;
    this.#redact = redact;
    this.#clock = clock;
    this.#open = new OpenConversations(clock);
    this.names = Object.keys(agents);
    for (const name of this.names) {
      this.#declare(gateway, agents, name, []);
      this.#offer(gateway, agents, name);
    }
  }

  /** The policy of the integration of an agent. */
  policyOf(name: string): IntegrationPolicy | undefined {
    return this.#policies.get(name);
  }

  /** A session has ended: its conversations are not held open. */
  leave(session: string): void {
    for (const name of this.names) this.#open.letGo(keyOf(session, name));
  }

  /** A fallback is declared before the agent it is for. */
  #declare(
    gateway: AgentMethods,
    agents: Readonly<Record<string, ServedAgent>>,
    name: string,
    path: readonly string[],
  ): Agent {
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const served = agents[name];
    if (served === undefined)
      throw new RangeError(`${path.at(-1)}.fallback is \`${name}\`, and there is no such agent`);
    if (path.includes(name))
      throw new RangeError(`${name}.fallback leads back to itself: ${[...path, name].join(', ')}`);
    const { approve, fallback, ...others } = served;
    const options = { ...others, policy: waitingForPlaces(others.policy) };
    const allowed = new Set(readValue(`${name}.approve`, approve ?? [], approvedTools));
    if (fallback !== undefined) readValue(`${name}.fallback`, fallback, text());
    const agent = gateway.agent(name, {
      ...options,
      approve: ({ payload }) => (allowed.has((payload as AgentApproval).tool) ? 'accept' : 'decline'),
      fallback: fallback === undefined ? undefined : this.#declare(gateway, agents, fallback, [...path, name]),
    });
    this.#agents.set(name, agent);
    this.#policies.set(name, this.#policyOf(name, options));
    return agent;
  }

  /** The agent itself has the limits, the circuit and the retries: what it could not do is its answer here, and counted once. */
  #offer(gateway: Gateway, agents: Readonly<Record<string, ServedAgent>>, name: string): void {
    const limitMs = this.#limitMs(agents, name);
    const limits = { idleMs: limitMs, attemptMs: limitMs, overallMs: limitMs };
    gateway.integration(
      turnsOf(name),
      {
        policy: { maxAttempts: 1, limits, maxInFlight: mostTurns },
        tools: { [askTool]: { longRunningMs: limitMs } },
      },
      ({ input }: ToolRequest<AgentQuestion>, context) => this.#ask(name, input, context),
    );
  }

  /** Sums up how long an agent and those that go on for it may take together, in ms. */
  #limitMs(agents: Readonly<Record<string, ServedAgent>>, first: string): number {
    let sum = besideMs;
    for (let name: string | undefined = first; name !== undefined; name = agents[name]?.fallback)
      sum += this.#policies.get(name)?.limits.overallMs ?? 0;
    return Math.min(sum, longestTurnMs);
  }

  async #ask(name: string, question: AgentQuestion, context: AttemptContext): Promise<AgentAnswer> {
    const { signal, touch } = context;
    const turnLimits = new TurnLimits(this.#clock, (agent) => this.#policies.get(agent)?.limits, name);
    tellInnerLimits(context.call, () => turnLimits.now());
    const key = keyOf(question.session, name);
    const opened = await this.#conversation(key, name, question.conversation, signal);
    if ('failure' in opened) return { agent: name, failure: this.#brief(opened.failure) };
    try {
      // A turn that was ended may still be letting go.
      if (opened.busy) await opened.interrupt();
      const turn = opened.send(question.text, { signal });
      for await (const event of turn) {
        touch();
        turnLimits.heard(event);
        this.#tell(question.session, name, event.type === 'retrying' ? this.#redact(event) : event);
      }
      const outcome = await turn.outcome;
      if (!outcome.ok)
        return { agent: name, conversation: opened.id ?? question.conversation, failure: this.#brief(outcome.failure) };
      const { text: answer, agent, usage } = outcome.value;
      return { agent, text: answer, conversation: opened.id, ...(usage !== undefined && { usage }) };
    } finally {
      this.#open.put(key, opened);
    }
  }

  #brief({ kind, message, retryable }: Failure): NonNullable<AgentAnswer['failure']> {
    return this.#redact({ kind, message, retryable });
  }

  /** @param id - what it is resumed by where it is not open. @defaultValue a new one is begun */
  async #conversation(
    key: string,
    name: string,
    id: string | undefined,
    signal: AbortSignal,
  ): Promise<Conversation | { readonly failure: Failure }> {
    const open = this.#open.take(key);
    if (open !== undefined) return open;
    const agent = this.#agents.get(name);
    if (agent === undefined) throw new RangeError(`No agent \`${name}\``);
    const started = await (id === undefined ? agent.start({ signal }) : agent.resume(id, { signal }));
    return started.ok ? started.value : { failure: started.failure };
  }
}

/** Limits of the agent that answers a turn, and when they end it, as far as its events tell. */
export class TurnLimits {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #limitsOf: (agent: string) => Limits | undefined;
  #agent: string;
  #startedAt: number;
  #attemptAt: number;
  #heardAt: number;

  /** @param agent - that begins. */
  constructor(clock: Pick<Clock, 'now'>, limitsOf: (agent: string) => Limits | undefined, agent: string) {
    this.#clock = clock;
    this.#limitsOf = limitsOf;
    this.#agent = agent;
    this.#startedAt = this.#attemptAt = this.#heardAt = clock.now();
  }

  heard(event: AgentEvent): void {
    this.#heardAt = this.#clock.now();
    if (event.type === 'retrying' && event.by === 'unwedge') this.#attemptAt = this.#heardAt + (event.delayMs ?? 0);
    if (event.type !== 'fell_back') return;
    this.#agent = event.to;
    this.#startedAt = this.#attemptAt = this.#heardAt;
  }

  now(): readonly InnerLimit[] {
    const limits = this.#limitsOf(this.#agent);
    if (limits === undefined) return [];
    const all = [
      { of: this.#agent, rule: 'idle_timeout', due: this.#heardAt + limits.idleMs },
      { of: this.#agent, rule: 'attempt_timeout', due: this.#attemptAt + limits.attemptMs },
      { of: this.#agent, rule: 'overall_timeout', due: this.#startedAt + limits.overallMs },
    ] as const;
    // A limit that has passed does not run: the agent waits for a place, or for its next attempt.
    const now = this.#clock.now();
    return all.filter(({ due }) => Number.isFinite(due) && due > now);
  }
}
