import { whyOf } from '../../src/calls/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import type { FailureFacts } from '../../src/policy/failures/face.ts';
import type { McpAnswer } from '../../src/protocol/mcp/face.ts';
import { ClientCall } from './clientCall.ts';
import type { ReplayedHandshake } from './handshake.ts';
import type { ProxyScope } from './proxyScope.ts';
import type { Asker } from './wire.ts';

/** Names of calls in one line; the others are counted. */
const mostNames = 8;

/** News that the proxy tells of its server: facts for subscribers and the store, a line for people when something went wrong. */
export class Announcements {
  readonly #scope: ProxyScope;
  #lost: { readonly why: string; readonly at: number; calls: string } | undefined = undefined;
  #startedAt = 0;
  /** Complaint about a server that does not come up. */
  #complaint = '';

  constructor(scope: ProxyScope) {
    this.#scope = scope;
  }

  started(pid: number | undefined): void {
    this.#startedAt = this.#scope.clock.now();
    this.#scope.log?.note('server started', { pid });
  }

  greeted({ era, differences, restored }: ReplayedHandshake): void {
    const { name, facts, clock, voice } = this.#scope;
    const changed = differences.length === 0 ? undefined : differences.join(', ');
    const elapsedMs = clock.now() - this.#startedAt;
    facts.tell({ type: 'mcp.server_replayed', integration: name, era, restored, changed, elapsedMs });
    const before = this.#scope.recorded?.isUnproven === true ? 'on record' : 'before its restart';
    if (changed !== undefined) voice.say(`${name} says something else of itself than ${before}: ${changed}`);
  }

  ready(): void {
    const { name, clock, voice, log } = this.#scope;
    const lost = this.#lost;
    this.#lost = undefined;
    if (lost !== undefined) this.#complaint = '';
    log?.note('server ready');
    if (lost !== undefined) {
      const after = formatDuration(clock.now() - lost.at);
      voice.say(`${name} was restarted after ${after}: ${lost.why}${lost.calls}`);
    }
  }

  /**
   * The server is gone.
   * @param served - whether it had been taking requests of a client that was given service.
   * @param stderr - what it wrote last.
   */
  lost({ reason, message }: FailureFacts, isQuiet: boolean, served: boolean, stderr = ''): void {
    const { name, clock, voice, log } = this.#scope;
    log?.note('server lost', { reason, message });
    if (isQuiet) return;
    if (served || reason === 'restarted') {
      const why = reason === 'restarted' ? 'an operator asked for it' : message;
      this.#lost ??= { why, at: clock.now(), calls: '' };
      return;
    }
    const complaint = `${name} does not come up: ${message}`;
    // It is tried again and again; the same is said once.
    if (complaint !== this.#complaint) voice.say(`${complaint}${remedyText(message, reason, stderr)}`);
    this.#complaint = complaint;
  }

  callsLost(inFlight: readonly ClientCall[], { message }: FailureFacts): void {
    const lost = inFlight.filter(({ isOver }) => isOver);
    const asked = inFlight.filter((call) => this.#isAsked(call));
    const again = inFlight.filter((call) => !call.isOver && call.unheard !== 'waits' && !asked.includes(call));
    if (asked.length > 0 && this.#lost !== undefined)
      this.#lost.calls = `; it is asked what became of ${asked.length} (${namesOf(asked)})`;
    if (lost.length + again.length > 0) this.lossesJudged(lost, again, message);
  }

  /** Tells of calls that were lost, once it is known which are sent again. */
  lossesJudged(lost: readonly ClientCall[], again: readonly ClientCall[], message: string): void {
    const { name, facts } = this.#scope;
    const calls = namesOf(lost);
    const repeatedCalls = namesOf(again);
    const figures = { lost: lost.length, repeated: again.length };
    facts.tell({ type: 'mcp.calls_lost', integration: name, ...figures, calls, repeatedCalls, message });
    if (this.#lost === undefined) return;
    this.#lost.calls +=
      (calls === undefined ? '' : `; lost ${lost.length} (${calls})`) +
      (repeatedCalls === undefined ? '' : `; ${again.length} sent again (${repeatedCalls})`);
  }

  /** Nobody is asked about a call that is kept: its own answer was waited for. */
  #isAsked({ row }: ClientCall): boolean {
    const why = row?.waiting === 'reconciling' ? whyOf(row, this.#scope.clock) : undefined;
    return why?.reconciling !== undefined && why.reconciling.state !== 'kept';
  }

  listsChanged(methods: readonly string[]): void {
    const lists = methods.join(', ');
    this.#scope.facts.tell({ type: 'mcp.lists_changed', integration: this.#scope.name, lists });
  }

  /**
   * The call of a tool failed, by its own word or without one.
   * @param attempts - in all; undefined when nobody counts them any more.
   */
  toolFailed({ tool, request }: ClientCall, { kind, reason, message }: FailureFacts, attempts = 1): void {
    const { name, facts } = this.#scope;
    if (tool === undefined || !facts.wants('mcp.tool_failed')) return;
    const input = request.params['arguments'];
    const retries = Math.max(0, attempts - 1);
    const about = { integration: name, tool, input, error: message, kind, reason, retries };
    facts.tell({ type: 'mcp.tool_failed', ...about });
  }

  /** An answer came when nobody waited for it any more. */
  late(asker: Asker | undefined, { error }: McpAnswer, givenUpAt: number | undefined, now: number): void {
    if (!(asker instanceof ClientCall) || givenUpAt === undefined) return;
    const { name, facts } = this.#scope;
    facts.tell({
      type: 'call.late',
      integration: name,
      call: `${name}-${asker.row?.number ?? 0}`,
      label: asker.label,
      attempt: asker.row?.attempts ?? 1,
      ok: error === undefined,
      lateByMs: now - givenUpAt,
    });
  }
}

/** The cause in the words of a server that has exited, and what helps. */
function remedyText(message: string, reason: FailureFacts['reason'], stderr: string): string {
  if (reason !== 'connection_lost') return '';
  const words = stderr === '' || message.includes(stderr) ? '' : `; stderr: ${stderr}`;
  return `${words}; mend its command, arguments or environment: it is started again by itself, and by the next request`;
}

/** Each name once; undefined when there is none. */
function namesOf(calls: readonly ClientCall[]): string | undefined {
  const labels = [...new Set(calls.map(({ label }) => label))];
  if (labels.length === 0) return undefined;
  const more = labels.length > mostNames ? ` and ${labels.length - mostNames} more` : '';
  return labels.slice(0, mostNames).join(', ') + more;
}
