import { withText } from '../wire/rewrite.ts';
import type { ClientStreams } from '../wire/serverLines.ts';
import type { FailureFacts } from '../../src/policy/failures/face.ts';
import {
  passingLimits,
  type SeenAnswer,
  seenCall,
  spinningNews,
  SpinningWatch,
} from '../../src/policy/spinning/face.ts';
import type { McpAnswer } from '../../src/protocol/mcp/face.ts';
import type { ClientCall } from './clientCall.ts';
import { type Line, textOf } from './outlet.ts';
import type { ProxyScope } from './proxyScope.ts';

/** Time without a call after which one that was held is tried again, in ms: a person may have mended what it failed for. */
const quietMs = 5 * 60_000;

/** Repetition in what the client calls of this server. */
export class Repetition {
  readonly #scope: ProxyScope;
  readonly #client: Pick<NonNullable<ClientStreams['client']>, 'watch' | 'nameOf'>;
  #calledAt = 0;

  constructor(scope: ProxyScope, client: ClientStreams['client']) {
    this.#scope = scope;
    this.#client = client ?? { watch: new SpinningWatch(passingLimits), nameOf: (tool) => tool };
  }

  /** A call begins, and is given a refusal where it is held. One that asks for a task is answered by the end of that, and is not judged. */
  begins(call: ClientCall): void {
    const { settings, session } = this.#scope;
    const { tool, effect, asTask, startedAt, request } = call;
    const { spinning: limits, repeatRuleOf } = settings;
    if (tool === undefined || asTask || limits === undefined || session === undefined) return;
    const { watch, nameOf } = this.#client;
    const input = request.params['arguments'];
    const exact = call.input === input ? undefined : call.input;
    const seen = seenCall({ tool: nameOf(tool), input, exact, effect, rule: repeatRuleOf(tool), limits });
    if (startedAt - this.#calledAt > quietMs) watch.mark();
    this.#calledAt = startedAt;
    const held = watch.before(seen);
    if (held === undefined) call.seen = seen;
    // No fault of the server's, which hears nothing of it.
    else
      call.refusal = {
        kind: 'spinning',
        message: this.#told(seen.tool, held) ?? '',
        outcome: 'not_started',
        alerts: false,
      };
  }

  /** A call has its answer, of its server or of ours. @returns it as the client reads it: as it is, or with a sentence for the agent */
  answered(call: ClientCall, own: Line, facts: FailureFacts | undefined, answer?: McpAnswer): Line {
    const { seen, startedAt, asked } = call;
    const line = asked === undefined ? own : withText(textOf(own), asked);
    const { result } = answer ?? {};
    const isAsked = answer !== undefined && asksAgain(answer);
    // It was found out, or is the answer to another call.
    const isOfAnother = call.row?.progress.joined === true || (answer !== undefined && call.answer === undefined);
    if (seen === undefined || isAsked || isOfAnother) return line;
    const { clock } = this.#scope;
    const tookMs = clock.now() - startedAt;
    const said = facts === undefined ? ({ ok: true, value: result, tookMs } as const) : failedIn(facts, tookMs);
    const found = this.#client.watch.after(seen, said, clock.wallNow());
    const told = found && this.#told(seen.tool, found);
    // What is held from now on was answered this time: the next call hears why it is not.
    return told === undefined || found?.step !== 'tell' ? line : withText(textOf(line), told);
  }

  #told(tool: string, verdict: Parameters<typeof spinningNews>[1]): string | undefined {
    if (verdict.isNews) {
      const { name, session = name, facts, voice } = this.#scope;
      const news = spinningNews(tool, verdict);
      facts.tell({ type: 'session.spinning', session, integration: name, ...news });
      voice.say(`${news.message}; the last answer: ${JSON.stringify(voice.hide(news.answer))}`);
    }
    return verdict.text;
  }
}

function failedIn({ kind, reason, message, retryAfterMs, kept }: FailureFacts, tookMs: number): SeenAnswer {
  const waits = retryAfterMs ?? (kind === 'circuit_open' || kept !== undefined);
  return { ok: false, kind: reason ?? kind, message, tookMs, waits };
}

/** Tells whether an answer is no end: a person is asked first, and the call comes again; a task says nothing yet of what it will end with. */
export const asksAgain = ({ error, result }: McpAnswer): boolean =>
  error?.['code'] === -32_042 || (result !== undefined && unended.has(result['resultType']));

const unended: ReadonlySet<unknown> = new Set(['input_required', 'task']);
