import type { Approver } from '../../integrations/approvals/approvals.ts';
import type { AttemptContext } from '../../calls/operation.ts';
import { AttemptError, type FailureFacts } from '../../policy/failure.ts';
import { keepsSession } from '../../protocol/agentCommand.ts';
import { recordIn, textIn } from '../../protocol/agentReport.ts';
import { goOnPrompt } from '../../protocol/agentTrail.ts';
import { claudeRetriesName, mayRetryItself } from '../../protocol/claudeRetries.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import type { SdkMessage, SdkOptions, SdkQueryFunction } from './agentSdkTypes.ts';
import type { Sink } from '../agentStream.ts';
import type { AgentResult } from '../agentTypes.ts';
import { createCanUseTool } from './claudeApprovals.ts';
import type { ClaudeSettings } from './claudeBackendOptions.ts';
import { type ClaudeLink, openLink } from './claudeLink.ts';
import { type RunningTurn, runTurn } from './claudeRunningTurn.ts';
import { type TurnTrail, userMessage } from './claudeTurn.ts';
import { messageOf } from '../../policy/thrown.ts';
import { inTime } from '../../policy/inTime.ts';

/** What all conversations of an agent have in common. */
export interface ClaudeParts {
  readonly runtime: Runtime;
  readonly agent: string;
  readonly settings: ClaudeSettings;
  readonly query: () => Promise<SdkQueryFunction>;
  /** Those of every query; with the environment. */
  readonly options: () => SdkOptions;
  /** Absent when nobody is to be asked: Claude then declines by itself. */
  readonly approver: Approver | undefined;
  readonly processId: () => string;
}

/** One conversation: a process of Claude while it lives, and what it takes to go on in another. */
export interface ClaudeConversation {
  readonly id: string | undefined;
  attempt(prompt: string, trail: TurnTrail, sink: Sink, context: AttemptContext): Promise<AgentResult>;
  /** What is known of a failed attempt. */
  amend(facts: FailureFacts, trail: TurnTrail, context: AttemptContext): FailureFacts;
  released(): Promise<void>;
  stop(): Promise<void>;
}

export function createClaudeConversation(parts: ClaudeParts, resumed: string | undefined): ClaudeConversation {
  const { runtime, settings, approver } = parts;
  const { clock } = runtime;
  let id = resumed;
  /** Whether Claude has kept it: there is something to resume. */
  let kept = resumed !== undefined;
  let link: ClaudeLink | undefined;
  let running: RunningTurn | undefined;
  /** What an attempt that was given up leaves to end. */
  let ending: Promise<void> = Promise.resolve();
  let stopped = false;

  const keepsAny = settings.options['persistSession'] !== false && keepsSession(settings.args ?? []);
  const canResume = (): boolean => id !== undefined && keepsAny;

  async function connect(mayHaveActed: boolean, signal: AbortSignal): Promise<ClaudeLink> {
    const query = await parts.query();
    // Another caller may have ended it meanwhile, and found nothing to end.
    signal.throwIfAborted();
    if (stopped) throw stoppedError(parts.agent);
    const goesOn = canResume() && (kept || mayHaveActed);
    if (kept && !goesOn) throw lost(parts.agent);
    const opened = openLink({
      runtime,
      query,
      processId: parts.processId(),
      graceMs: settings.graceMs,
      options: {
        includePartialMessages: true,
        ...parts.options(),
        ...(goesOn && { resume: id }),
        ...(approver !== undefined && {
          canUseTool: createCanUseTool(
            approver,
            () => id,
            () => running,
          ),
        }),
      },
    });
    opened.listener = (message) => {
      hear(message);
      if (message['type'] === 'result') kept = true;
      if (link === opened) running?.take(message);
    };
    void opened.ended.then((end) => {
      if (link === opened) running?.lost(end);
    });
    link = opened;
    return opened;
  }

  /** Also between turns: a background task of Claude's may say something then. */
  function hear(message: SdkMessage): void {
    const told = textIn(message['session_id']);
    if (told !== undefined && !told.startsWith('-')) id = told;
    try {
      settings.onMessage?.(message);
    } catch (error) {
      const text = messageOf(error);
      runtime.bus.tell({ type: 'listener.failed', event: 'agent.message', error: text });
    }
  }

  async function attempt(prompt: string, trail: TurnTrail, sink: Sink, context: AttemptContext): Promise<AgentResult> {
    const { signal, effect } = context;
    await ending;
    signal.throwIfAborted();
    trail.attempts.refuseRepetition({ effect, resumable: canResume() });
    const { mayHaveActed } = trail.attempts;
    const wasOpen = link?.isOpen === true;
    const open = wasOpen && link !== undefined ? link : await connect(mayHaveActed, signal);
    // Given up in between, its turn would be nobody's to end; the query is there for the next.
    signal.throwIfAborted();
    // The request is in the history that is gone on with.
    const goesOn = trail.heardBy === open || (mayHaveActed && (wasOpen || canResume()));
    const { text, usage } = await runTurn(
      {
        clock,
        link: open,
        message: userMessage(goesOn ? goOnPrompt : prompt, runtime.random),
        trail,
        sink,
        context,
        retryLifeMs: settings.retryLifeMs,
        retriesItself: mayRetryItself(variableIn(parts.options()['env'])),
        amend: (facts) => amend(facts, trail, context),
        giveUp: (obeyed) => {
          kept ||= trail.attempts.mayHaveActed;
          ending = windDown(open, obeyed, signal);
          return ending;
        },
        ended: () => {
          running = undefined;
        },
      },
      (turn) => {
        running = turn;
      },
    );
    const { effects } = trail.attempts.left;
    return { text, id, backend: 'claude', agent: parts.agent, effects, usage };
  }

  /** Ends the turn of a query: it is asked first; its process is ended when it does not obey, or was silent for too long. */
  async function windDown(open: ClaudeLink, obeyed: Promise<void>, { reason }: AbortSignal): Promise<void> {
    open.interrupt();
    const isSilent = reason instanceof AttemptError && reason.facts.kind === 'timeout';
    const obeying = obeyed.then(() => true);
    const isObeyed = await inTime(obeying, { clock, limitMs: settings.interruptMs, running: true });
    if (isObeyed !== true || isSilent || stopped) await open.close();
  }

  function amend(facts: FailureFacts, trail: TurnTrail, { effect }: AttemptContext): FailureFacts {
    return trail.attempts.judge(facts, { effect, resumable: canResume() });
  }

  return {
    get id() {
      return id;
    },
    attempt,
    amend,
    released: () => ending,
    async stop() {
      stopped = true;
      await link?.close();
      await ending;
    },
  };
}

const variableIn = (env: unknown): string | undefined => textIn(recordIn(env)?.[claudeRetriesName]);

function stoppedError(agent: string): AttemptError {
  const message = `The conversation with ${agent} was stopped`;
  return new AttemptError({ kind: 'unavailable', reason: 'stopped', message, outcome: 'not_started' });
}

function lost(agent: string): AttemptError {
  const message = `The process of the conversation with ${agent} has ended and nothing of it was kept; start a new one`;
  return new AttemptError({ kind: 'permanent', reason: 'not_found', message, outcome: 'not_started' });
}
