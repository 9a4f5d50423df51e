import type { FailureFacts } from '../../src/policy/failures/face.ts';
import { canonicalJson } from '../../src/policy/text/face.ts';
import { type McpAnswer, type McpParams, fieldsOf, withId } from '../../src/protocol/mcp/face.ts';
import { notificationLine } from '../../src/protocol/face.ts';
import type { ClientCall, SharedRequest } from './clientCall.ts';
import { type Line, type Outlet, textOf } from './outlet.ts';
import type { ProxyRules } from './proxyRules.ts';
import type { ProxyScope } from './proxyScope.ts';
import type { Asker, Asking, Question, Wire } from './wire.ts';

/** Equal reads of one client that are under way, as one request: by the word of the operator alone. */
export class Joins {
  readonly #scope: ProxyScope;
  readonly #rules: ProxyRules;
  /** By tool, those that are open; a client has few of one at a time. */
  readonly #open = new Map<string, Set<JointRead>>();
  /** Calls that may have had effects and have ended: nothing joins what began before one of them. */
  #ends = 0;

  constructor(scope: ProxyScope, rules: ProxyRules) {
    this.#scope = scope;
    this.#rules = rules;
  }

  /** Asks the server, or joins an equal request that is open. Undefined when it cannot be written to. */
  ask(call: ClientCall, wire: Wire, asking: Asking): Question | undefined {
    const { tool } = call;
    if (tool === undefined || !this.#scope.settings.joins || !this.#mayJoin(call, tool)) return wire.ask(call, asking);
    const all = this.#open.get(tool) ?? new Set();
    let key: string | undefined;
    for (const open of all) {
      // One that has left it asks anew. Compared last: most calls of a tool are alone.
      if (open.wire !== wire || open.since !== this.#ends || !open.question.open || call.joint === open) continue;
      if (open.key !== (key ??= keyOf(call))) continue;
      open.takes(call);
      // Its answer is that of another call.
      call.seen = undefined;
      return open.question;
    }
    call.joint?.leave(call);
    const question = wire.ask(call, asking);
    if (question === undefined) return undefined;
    const over = (): void => void (all.delete(joint) && all.size === 0 && this.#open.delete(tool));
    const joint = new JointRead({ wire, question, since: this.#ends, outlet: this.#scope.outlet, over }, call);
    this.#open.set(tool, all.add(joint));
    return question;
  }

  /** A call has ended, or the work of one that had. */
  ended({ tool, effect }: ClientCall): void {
    if (!this.#scope.settings.joins) return;
    const isRead = tool === undefined ? effect === 'readOnly' : this.#rules.isDeclaredRead(tool);
    if (!isRead) this.#ends++;
  }

  #mayJoin(call: ClientCall, tool: string): boolean {
    const { asTask, ownTask, inBatch, request } = call;
    // What answers a question of the server belongs to one call.
    const isPlain = !asTask && !ownTask && !inBatch && request.params['requestState'] === undefined;
    return isPlain && this.#scope.session !== undefined && this.#rules.isJoined(tool) && !this.#rules.of(call);
  }
}

/** Members of `_meta` that each call has of its own; Claude Code sends `claudecode/toolUseId`, Codex `callId` and `itemId`. */
const ownMeta =
  /^(progressToken|traceparent|tracestate|baggage)$|(^|[/.])((tool[-_]?)?(call|use)|item|request)[-_]?id$/i;

/** All that a call says, but for what each call has of its own. */
function keyOf({ request, input }: ClientCall): string | undefined {
  const { _meta, ...params } = request.params;
  const meta = Object.entries(fieldsOf(_meta)).filter(([name]) => !ownMeta.test(name));
  return canonicalJson([{ ...params, arguments: input }, Object.fromEntries(meta)]);
}

interface JointParts extends Pick<JointRead, 'wire' | 'question' | 'since'> {
  readonly outlet: Outlet;
  readonly over: () => void;
}

/** A request that a call made under its own id, as long as it is alone; from its second call on the asker for all of them, each with its own id, limits and progress. */
class JointRead implements Asker, SharedRequest {
  readonly wire: Wire;
  readonly question: Question;
  /** Count of ends as of which it began. */
  readonly since: number;
  readonly #parts: JointParts;
  readonly #members = new Set<ClientCall>();
  #key: string | undefined = undefined;

  constructor(parts: JointParts, first: ClientCall) {
    this.wire = parts.wire;
    this.question = parts.question;
    this.since = parts.since;
    this.#parts = parts;
    this.#members.add(first);
    first.joint = this;
  }

  get isLeft(): boolean {
    return this.#members.size === 0;
  }

  /** That of the calls which it is for. */
  get key(): string | undefined {
    const [first] = this.#members;
    return first && (this.#key ??= keyOf(first));
  }

  takes(call: ClientCall): void {
    this.#members.add(call);
    call.joint = this;
    this.question.asker = this;
  }

  leave(call: ClientCall): void {
    this.#members.delete(call);
    if (this.isLeft) this.#parts.over();
  }

  answered(line: Line, answer: McpAnswer): void {
    const [first, ...others] = this.#end();
    first?.answered(this.#lineFor(first, line), answer);
    // A question of the server is put to one of them; the others ask by themselves.
    const isAsked = answer.result?.['resultType'] === 'input_required';
    for (const call of others) {
      if (isAsked) call.askAlone?.();
      else call.answered(this.#lineFor(call, line), answer);
    }
  }

  #lineFor({ request }: ClientCall, line: Line): Line {
    return request.id === this.question.id ? line : withId(textOf(line), request.id);
  }

  progressed(params: McpParams): boolean {
    for (const call of this.#members) {
      const { progressToken } = fieldsOf(call.request.params['_meta']);
      if (!call.progressed(params) || progressToken === undefined) continue;
      this.#parts.outlet.write(notificationLine('notifications/progress', { ...params, progressToken }));
    }
    // As each has asked for it, and not as it came.
    return false;
  }

  logged(): void {
    for (const call of this.#members) call.logged();
  }

  lost(facts: FailureFacts): void {
    for (const call of this.#end()) call.lost(facts);
  }

  #end(): readonly ClientCall[] {
    const members = [...this.#members];
    this.#members.clear();
    this.#parts.over();
    return members;
  }
}
