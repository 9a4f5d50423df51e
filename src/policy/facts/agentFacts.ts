import type { FailureKind } from '../failures/failure.ts';
import type { NewQuestion, PersonAnswer } from '../records/question.ts';

/** Facts of agents, Codex, approvals and hooks. */
export interface AgentFacts {
  /** An agent could not answer, and another one was given its prompt. */
  'agent.fell_back': { agent: string; to: string; kind: FailureKind; message: string };

  /** A turn of an agent behind `unwedge acp` was answered in its place: its client had cancelled it, or it passed a limit. The agent may still be at it. */
  'acp.turn_abandoned': {
    integration: string;
    /** Id that the client has for the session. */
    agentSession: string;
    why: 'cancelled' | 'limit';
    message: string;
    elapsedMs: number;
  };
  /** A new process of an agent was brought back a session of the one before, by the named request; by `session/new` without what was said before. */
  'acp.session_loaded': { integration: string; agentSession: string; by: string; elapsedMs: number };

  /** A hook threw, rejected or hung; the main operation goes on. */
  'hook.failed': {
    hook: string;
    event: string;
    action: string;
    session?: string | undefined;
    /** Absent when it answered what cannot be read, and of a command that no gateway runs. */
    kind?: FailureKind | undefined;
    error: string;
    stack?: string | undefined;
  };
  /** A question was put to the approver. Its full text is not told. */
  'approval.requested': ApprovalFact;
  /** It was answered, or nobody asks any more, which declines. */
  'approval.completed': ApprovalFact & {
    decision: 'accept' | 'decline';
    by: 'answer' | 'cancelled' | 'stopped';
    reason?: string | undefined;
    elapsedMs: number;
  };
  /** It was declined because nobody answered in time, the handler crashed or gave no answer, or nobody could be asked. */
  'approval.failed': ApprovalFact & {
    failure: 'timeout' | 'crash' | 'unreadable' | 'unavailable';
    error: string;
    stack?: string | undefined;
    elapsedMs: number;
  };
  /** An answer came after its question had been declined; it changes nothing. */
  'approval.late': ApprovalFact & { decision: 'accept' | 'decline' | 'none'; lateByMs: number };
  /** A question waits for a person in the inbox. Asked again in its place, as after a restart, it is not told again. */
  'question.asked': QuestionFact & { source: NewQuestion['source']; what: string; deadlineAt: number };
  /** A person, or the code that asks, has answered a question of the inbox. What was answered is not told. */
  'question.answered': QuestionFact & {
    decision: 'accept' | 'decline';
    by?: string | undefined;
    way: PersonAnswer['way'];
    reason?: string | undefined;
    waitedMs: number;
  };
  /** Nobody answered a question of the inbox in time: it is declined. */
  'question.expired': QuestionFact & { waitedMs: number };
  /** A question of the inbox is not asked any more. */
  'question.withdrawn': QuestionFact & { waitedMs: number };
  /** A connection to Codex's app-server is ready. */
  'codex.app_server.connection.start': CodexFact & { pid: number; elapsedMs: number };
  /** It ended: in good order (`normal`), by itself (`crashed`), or by us for what was wrong with it (`killed`). */
  'codex.app_server.connection.stop': CodexFact & {
    reason: 'normal' | 'crashed' | 'killed';
    message: string;
    elapsedMs: number;
  };
  /** It did not come up, was lost, or is unhealthy. */
  'codex.app_server.connection.error': CodexFact & { kind: FailureKind; reason?: string | undefined; error: string };
  /** A request was sent. Of its parameters only what names things is told. */
  'codex.app_server.request.start': CodexFact & {
    request: number;
    method: string;
    params: Readonly<Record<string, unknown>>;
  };
  /** It was answered (`ok`), refused, given up, or lost with its connection. */
  'codex.app_server.request.stop': CodexFact & {
    request: number;
    method: string;
    ok: boolean;
    elapsedMs: number;
    error?: string | undefined;
  };
  /** It was not answered in time. */
  'codex.app_server.request.timeout': CodexFact & {
    request: number;
    method: string;
    elapsedMs: number;
    /** The limit that passed. */
    limitMs?: number | undefined;
    error: string;
  };
  /** The app-server said something without having been asked. */
  'codex.app_server.notification.received': CodexFact & {
    method: string;
    thread?: string | undefined;
    turn?: string | undefined;
  };
  /** It said something that is not of the protocol as it is known, or cannot be read. Told at debug level. */
  'codex.app_server.notification.unknown': CodexFact & { method: string };
  /** A turn was given up: the commands that it began were ended (`ended`), or may still run (`left`). */
  'codex.app_server.turn.commands_ended': CodexFact & {
    thread: string;
    turn: string;
    ended: readonly string[];
    left: readonly string[];
  };
  /** Codex asks whether it may do something. */
  'codex.app_server.approval.requested': CodexApprovalFact;
  /** Codex was answered. */
  'codex.app_server.approval.completed': CodexApprovalFact & { decision: 'accept' | 'decline'; elapsedMs: number };
  /** Nobody answered in time, so that Codex was told no. */
  'codex.app_server.approval.timeout': CodexApprovalFact & { decision: 'decline'; elapsedMs: number };
}

/** Fields that the facts of one connection to an app-server have in common. */
interface CodexFact {
  integration: string;
  /** Counts the connections of the integration, from 1. */
  connection: number;
}

/** Fields that the facts of one question of Codex have in common. */
interface CodexApprovalFact extends CodexFact {
  /** Id of the protocol; numbers start at 0. */
  request: number | string;
  kind: string;
  thread?: string | undefined;
  turn?: string | undefined;
}

/** Fields that the facts of one question of the inbox have in common. */
interface QuestionFact {
  /** Its id, as `unwedge inbox` shows it. */
  question: string;
  /** Name of the approval, the server, the agent, the hook or the session that asks. */
  asker: string;
  session?: string | undefined;
}

/** Fields that the facts of one approval have in common. */
export interface ApprovalFact {
  /** Name of the person who is asked. */
  approval: string;
  /** Unique within the runtime. */
  request: string;
  action: string;
  session?: string | undefined;
}
