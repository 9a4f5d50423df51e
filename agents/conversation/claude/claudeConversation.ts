import type { AttemptContext } from '../../../src/calls/face.ts';
import { AttemptError, type FailureFacts, type Outcome, messageOf } from '../../../src/policy/failures/face.ts';
import { goOnPrompt, keepsSession, textIn } from '../../../src/protocol/face.ts';
import type { SdkMessage, SdkOptions } from './agentSdkTypes.ts';
import type { Sink } from '../agentStream.ts';
import type { BackendConversation, ToldSoFar, TurnOptions } from '../agentBackend.ts';
import type { AgentResult } from '../agentTypes.ts';
import { createCanUseTool } from './claudeApprovals.ts';
import { type ClaudeLink, openLink } from './claudeLink.ts';
import { type ClaudeScope, type RunningTurn, runTurn } from './claudeRunningTurn.ts';
import { type TurnTrail, userMessage } from './claudeTurn.ts';
import { inTime } from '../../../src/policy/face.ts';

/** A turn, as the call path has it. */
export interface TurnRequest {
  readonly conversation: ClaudeConversation;
  readonly prompt: string;
  readonly sink: Sink;
  readonly told: ToldSoFar | undefined;
  readonly ear: TurnOptions['ear'];
}

/** Makes a turn as a call of the integration. */
type CallTurn = (request: TurnRequest, options: Omit<TurnOptions, 'told' | 'ear'>) => Promise<Outcome<AgentResult>>;

/** Conversation: a process of Claude while it lives, and all it takes to go on in another. */
export class ClaudeConversation implements BackendConversation {
  readonly #scope: ClaudeScope;
  readonly #call: CallTurn;
  /** True where Claude keeps any conversation. */
  readonly #keepsAny: boolean;
  #id: string | undefined;
  /** True once Claude has kept it: there is something to resume. */
  #kept: boolean;
  #link: ClaudeLink | undefined = undefined;
  #running: RunningTurn | undefined = undefined;
  /** End of the rest of an attempt that was given up. */
  #ending: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(scope: ClaudeScope, call: CallTurn, resumed: string | undefined) {
    this.#scope = scope;
    this.#call = call;
    this.#id = resumed;
    this.#kept = resumed !== undefined;
    const { options, args = [] } = scope.settings;
    this.#keepsAny = options['persistSession'] !== false && keepsSession(args);
  }

  get id(): string | undefined {
    return this.#id;
  }

  turn(prompt: string, sink: Sink, { told, ear, ...options }: TurnOptions): Promise<Outcome<AgentResult>> {
    return this.#call({ conversation: this, prompt, sink, told, ear }, options);
  }

  async attempt(prompt: string, trail: TurnTrail, sink: Sink, context: AttemptContext): Promise<AgentResult> {
    const { runtime, agent } = this.#scope;
    const { signal, effect } = context;
    await this.#ending;
    signal.throwIfAborted();
    trail.attempts.refuseRepetition({ effect, resumable: this.#canResume });
    const { mayHaveActed } = trail.attempts;
    const link = this.#link?.isOpen === true ? this.#link : undefined;
    const open = link ?? (await this.#connect(mayHaveActed, signal));
    // Given up in between, its turn would be nobody's to end; the query is there for the next.
    signal.throwIfAborted();
    // The request is in the history that is gone on with.
    const goesOn = trail.heardBy === open || (mayHaveActed && (link !== undefined || this.#canResume));
    const asked = trail.told?.resumed(prompt) ?? (goesOn ? goOnPrompt : prompt);
    const message = userMessage(asked, runtime.random);
    const { text, usage, calls } = await runTurn(
      this.#scope,
      { link: open, message, trail, sink, context },
      {
        began: (turn) => {
          this.#running = turn;
        },
        amend: (facts) => this.amend(facts, trail, context),
        giveUp: (obeyed) => {
          this.#kept ||= trail.attempts.mayHaveActed;
          this.#ending = this.#windDown(open, obeyed, signal);
          return this.#ending;
        },
        ended: () => {
          this.#running = undefined;
        },
      },
    );
    const { effects } = trail.attempts.left;
    return { text, id: this.#id, backend: 'claude', agent, effects, usage, calls };
  }

  /** Adds all that is known of a failed attempt. */
  amend(facts: FailureFacts, trail: TurnTrail, { effect }: AttemptContext): FailureFacts {
    const judged = trail.attempts.judge(facts, { effect, resumable: this.#canResume });
    return trail.told?.mayGoOn() === false ? { ...judged, shouldRetry: false } : judged;
  }

  released(): Promise<void> {
    return this.#ending;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#link?.close();
    await this.#ending;
  }

  get #canResume(): boolean {
    return this.#id !== undefined && this.#keepsAny;
  }

  async #connect(mayHaveActed: boolean, signal: AbortSignal): Promise<ClaudeLink> {
    const { agent, runtime, settings, processId } = this.#scope;
    const query = await this.#scope.query();
    // Another caller may have ended it meanwhile, and found nothing to end.
    signal.throwIfAborted();
    if (this.#stopped) throw stoppedError(agent);
    const goesOn = this.#canResume && (this.#kept || mayHaveActed);
    if (this.#kept && !goesOn) throw lost(agent);
    const options = this.#queryOptions(goesOn);
    const opened = openLink({ runtime, query, processId: processId(), graceMs: settings.graceMs, options });
    opened.listener = (message) => {
      this.#hear(message);
      if (message['type'] === 'result') this.#kept = true;
      if (this.#link === opened) this.#running?.take(message);
    };
    void opened.ended.then((end) => {
      if (this.#link === opened) this.#running?.lost(end);
    });
    this.#link = opened;
    return opened;
  }

  #queryOptions(goesOn: boolean): SdkOptions {
    const { approver } = this.#scope;
    return {
      includePartialMessages: true,
      ...this.#scope.options(),
      ...(goesOn && { resume: this.#id }),
      ...(approver !== undefined && {
        canUseTool: createCanUseTool(
          approver,
          () => this.#id,
          () => this.#running,
        ),
      }),
    };
  }

  /** Also between turns: a background task of Claude's may say something then. */
  #hear(message: SdkMessage): void {
    const { settings, runtime } = this.#scope;
    const told = textIn(message['session_id']);
    if (told !== undefined && !told.startsWith('-')) this.#id = told;
    try {
      settings.onMessage?.(message);
    } catch (error) {
      runtime.bus.tell({ type: 'listener.failed', event: 'agent.message', error: messageOf(error) });
    }
  }

  /** Ends the turn of a query: it is asked first; its process is ended when it does not obey, or was silent for too long. */
  async #windDown(open: ClaudeLink, obeyed: Promise<void>, { reason }: AbortSignal): Promise<void> {
    const { runtime, settings } = this.#scope;
    open.interrupt();
    const isSilent = reason instanceof AttemptError && reason.facts.kind === 'timeout';
    const obeying = obeyed.then(() => true);
    const isObeyed = await inTime(obeying, { clock: runtime.clock, limitMs: settings.interruptMs, running: true });
    if (isObeyed !== true || isSilent || this.#stopped) await open.close();
  }
}

function stoppedError(agent: string): AttemptError {
  const message = `The conversation with ${agent} was stopped`;
  return new AttemptError({ kind: 'unavailable', reason: 'stopped', message, outcome: 'not_started' });
}

function lost(agent: string): AttemptError {
  const message = `The process of the conversation with ${agent} has ended and nothing of it was kept; start a new one`;
  return new AttemptError({ kind: 'permanent', reason: 'not_found', message, outcome: 'not_started' });
}
