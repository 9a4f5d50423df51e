import type { Subscribers } from './rpc/rpcPeerSubscribers.ts';
import { type Approver, superviseApproval } from '../../src/integrations/approvals/face.ts';
import { AttemptError, type FailureFacts } from '../../src/policy/failures/face.ts';
import { type CodexQuestion, detailOf } from './protocol/questions.ts';
import { KnownSecrets, createMaskedJson } from '../../src/redaction/face.ts';
import type { CodexLinkHost, HowLost } from './codexLink.ts';
import type { LiveConnection } from './codexLive.ts';
import { notStarted, unhealthy, unreadable } from './codexLoss.ts';
import type { CodexWireLine } from './codexOptions.ts';
import { CodexRun } from './codexRun.ts';
import type { CodexScope } from './codexOptions.ts';
import type { CodexState } from './codexTypes.ts';

interface Waiting {
  readonly resolve: (live: LiveConnection) => void;
  readonly reject: (error: AttemptError) => void;
  /** Nobody waits for this start any more. */
  readonly over: () => void;
}

/** The app-server of one integration: one process at a time, started when it is needed, never by itself. */
export class CodexProcess {
  readonly #scope: CodexScope;
  readonly #approver: Approver;
  readonly #line: CodexLinkHost['line'];
  readonly #newSubscribers: () => Subscribers;
  readonly #busy = new Set<Promise<unknown>>();
  #count = 0;
  #state: CodexState = 'idle';
  #current: LiveConnection | undefined = undefined;
  #run: CodexRun | undefined = undefined;
  #starting: Promise<LiveConnection> | undefined = undefined;
  #lastLoss: FailureFacts | undefined = undefined;
  #subscribers: Subscribers;
  /** Set while one that was killed is not gone yet: Codex lets no other one write to the threads it holds. */
  #burial: Promise<void> | undefined = undefined;

  /** @param subscribers - hear the first connection. */
  constructor(scope: CodexScope, subscribers: Subscribers, newSubscribers: () => Subscribers) {
    const { runtime, name, settings } = scope;
    const { approve, tap, approvalMs } = settings;
    const { env } = settings.process;
    runtime.secrets.learn(env);
    this.#scope = scope;
    this.#subscribers = subscribers;
    this.#newSubscribers = newSubscribers;
    this.#line = tap === undefined ? undefined : createTap(tap, { ...process.env, ...env });
    this.#approver = superviseApproval(
      runtime,
      `codex:${name}`,
      runtime.inbox !== undefined && approve === undefined
        ? ({ payload }) => ((payload as CodexQuestion).kind === 'toolCall' ? nobodyToAsk : undefined)
        : ({ payload }, context) => (approve === undefined ? nobodyToAsk : approve(payload as CodexQuestion, context)),
      { overallMs: approvalMs },
      { source: 'permission', detailOf: (payload) => detailOf(payload as CodexQuestion) },
    );
  }

  get state(): CodexState {
    return this.#state;
  }

  /** The connection of the moment, if it can be used. */
  get current(): LiveConnection | undefined {
    return this.#current;
  }

  /** Why the last one ended, or did not come up. */
  get lastLoss(): FailureFacts | undefined {
    return this.#lastLoss;
  }

  /** The listeners to the connection of the moment, or to the next one. */
  get subscribers(): Subscribers {
    return this.#subscribers;
  }

  /** A connection that can be used, started if need be. Rejects with an `AttemptError`. */
  async acquire(): Promise<LiveConnection> {
    // A request to a hung one is lost, and within 5 s it is known whether it hangs.
    if (this.#current?.suspicion !== undefined) await this.#current.suspicion;
    if (this.#current?.healthy === true) return this.#current;
    if (this.#current !== undefined) {
      // Its output cannot be read. Turns that are under way may still end; without any, another one is better.
      if (this.#busy.size > 0) throw new AttemptError(unhealthy);
      this.#current.kill(unreadable);
      this.#current = undefined;
    }
    if (this.#burial === undefined) return this.#starting ?? this.#begin();
    await this.#burial;
    return this.acquire();
  }

  /** Ends it in good order. Always resolves. */
  async close(): Promise<void> {
    if (this.#run !== undefined) await this.#scope.runtime.root.stopChild(this.#run.id);
  }

  /** A listener that hears of the start and asks for a connection waits for this one. */
  #begin(): Promise<LiveConnection> {
    let run: () => void = () => undefined;
    const promise = new Promise<LiveConnection>((resolve, reject) => {
      run = () => this.#start({ resolve, reject, over });
    });
    const over = (): void => {
      if (this.#starting === promise) this.#starting = undefined;
    };
    this.#starting = promise;
    run();
    return promise;
  }

  #start(waiting: Waiting): void {
    const heard = this.#subscribers;
    let made: LiveConnection | undefined;
    this.#state = 'handshake';
    const run: CodexRun = new CodexRun(
      this.#scope,
      ++this.#count,
      {
        approver: this.#approver,
        line: this.#line,
        busy: this.#busy,
        ready: (live) => {
          made = live;
          this.#current = live;
          this.#state = 'ready';
          waiting.over();
          waiting.resolve(live);
        },
        left: () => {
          waiting.over();
          if (this.#current === made) this.#current = undefined;
          if (this.#subscribers === heard) this.#subscribers = this.#newSubscribers();
        },
        draining: () => {
          if (this.#run === run && this.#state === 'ready') this.#state = 'draining';
        },
        ended: (facts, how) => this.#ended(run, facts, how, waiting),
        burying: (gone) => {
          this.#burial = gone;
        },
        gone: () => {
          this.#burial = undefined;
        },
      },
      heard,
    );
    this.#run = run;
    try {
      run.start();
    } catch (error) {
      this.#state = 'crashed';
      waiting.over();
      waiting.reject(new AttemptError(notStarted(this.#scope.name, error)));
    }
  }

  #ended(run: CodexRun, facts: FailureFacts, how: HowLost, { reject }: Waiting): void {
    if (this.#run === run) this.#state = how === 'normal' ? 'closed' : 'crashed';
    this.#lastLoss = facts;
    reject(new AttemptError(facts));
  }
}

const nobodyToAsk = { decision: 'decline', reason: 'Nobody is there to approve' } as const;

/** Fields that hold what people, models and tools say. */
const words: ReadonlySet<string> = new Set([
  'aggregatedOutput',
  'answers',
  'arguments',
  'baseInstructions',
  'changes',
  'command',
  'commandActions',
  'content',
  'contentItems',
  'delta',
  'developerInstructions',
  'diff',
  'execpolicy_amendment',
  'explanation',
  'input',
  'output',
  'preview',
  'prompt',
  'proposedExecpolicyAmendment',
  'query',
  'question',
  'reason',
  'stderr',
  'stdout',
  'step',
  'structuredContent',
  'summary',
  'text',
]);

/**
 * A wire tap: what it hears has the words left out, of which only the length is told, and secrets taken out.
 * @param env - whose secret values are looked for everywhere.
 */
function createTap(
  tap: (line: CodexWireLine) => void,
  env: Readonly<Record<string, string | undefined>>,
): (direction: 'sent' | 'received', text: string) => void {
  const redact = createMaskedJson(new KnownSecrets(env));
  return (direction, text) => tap({ direction, line: redact(withoutWords(text)) });
}

function withoutWords(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text, (name, value: unknown) =>
      words.has(name) ? `[${lengthOf(value)} characters]` : value,
    ) as Record<string, unknown>;
  } catch {
    return { unreadable: `${text.length} characters` };
  }
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : (JSON.stringify(value) ?? '').length;
}
