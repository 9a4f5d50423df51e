import type { Timer } from '../../src/policy/face.ts';
import { layersOf } from '../../src/sessions/face.ts';
import type { AgentRequests } from './agentRequests.ts';
import { type AskLayers, judgeLayers, mostEveryMs } from './layers.ts';
import type { Prompt } from './prompt.ts';
import type { Prompts } from './prompts.ts';
import type { AcpScope } from './scope.ts';

/** Most time between two looks, in ms. */
const mostMs = 5000;

interface IdleExcuseParts {
  readonly prompts: Pick<Prompts, 'waiting' | 'endSilent'>;
  readonly requests: Pick<AgentRequests, 'asksPeople' | 'excuses'>;
  /** Tells whether the client does not read what is written. */
  readonly isUnread: () => boolean;
  /** @defaultValue nobody is asked */
  readonly ask: AskLayers | undefined;
  /** For how long a prompt has been silent, in ms. */
  readonly silentMs: (prompt: Prompt) => number;
}

/** Keeps a turn from being taken for silent while a person is asked, a tool of it is within its own limit, what is below it gets on, or the client does not read. */
export class IdleExcuse {
  readonly #scope: AcpScope;
  readonly #parts: IdleExcuseParts;
  readonly #everyMs: number;
  #timer: Timer | undefined = undefined;
  #isStopped = false;
  #askedAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;

  constructor(scope: AcpScope, parts: IdleExcuseParts) {
    this.#scope = scope;
    this.#parts = parts;
    this.#everyMs = Math.min(scope.settings.policy.limits.idleMs / 3, mostMs);
  }

  /** A turn may have begun. */
  check(): void {
    if (this.#timer !== undefined || this.#isStopped) return;
    if (this.#parts.prompts.waiting()[Symbol.iterator]().next().done === true) return;
    this.#timer = this.#scope.clock.setTimeout(() => {
      this.#timer = undefined;
      this.#look();
      this.check();
    }, this.#everyMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#scope.clock.clearTimeout(this.#timer);
  }

  #look(): void {
    const { prompts, requests, isUnread } = this.#parts;
    const { clock, settings } = this.#scope;
    const { idleMs } = settings.policy.limits;
    const now = clock.now();
    // The last touch and the idle limit behind it make the limit of a tool.
    const toolMs = settings.toolMs - idleMs;
    for (const { session, turn, context } of prompts.waiting()) {
      const until = turn.excusedUntil(toolMs);
      const isAtTool = until !== undefined && now < until;
      if (requests.asksPeople(session)) context?.extend?.(this.#everyMs);
      else if (isAtTool || isUnread() || requests.excuses(session, now, toolMs)) context?.touch();
    }
    void this.#askBelow(now);
  }

  async #askBelow(now: number): Promise<void> {
    const { prompts, ask, silentMs } = this.#parts;
    const { idleMs } = this.#scope.settings.policy.limits;
    const leastMs = Math.min(mostEveryMs, idleMs / 3);
    const silent = [...prompts.waiting()].filter((prompt) => silentMs(prompt) >= leastMs);
    if (ask === undefined || silent.length === 0 || this.#isAsking || now - this.#askedAt < leastMs) return;
    this.#askedAt = now;
    this.#isAsking = true;
    // Where it rejects, nothing is known of what goes on below.
    const layers = await ask(silent.map(({ session }) => session.agentId)).catch(() => []);
    this.#isAsking = false;
    // One may have said something in the meantime.
    for (const prompt of silent.filter((each) => silentMs(each) >= leastMs)) {
      const about = { silentMs: silentMs(prompt), idleMs };
      const verdict = judgeLayers(layersOf(prompt.session.agentId, layers), about);
      if (verdict === 'gets on') prompt.context?.touch();
      else if (verdict === 'wedged') prompts.endSilent(prompt, idleMs / 3);
    }
  }
}
