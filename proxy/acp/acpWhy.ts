import { type CallPath, type CallWhy, circuitOf } from '../../src/calls/face.ts';
import type { Clock } from '../../src/policy/face.ts';
import type { Failure } from '../../src/policy/failures/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import type { AcpTurn } from '../../src/protocol/acp/face.ts';
import type { McpAnswer } from '../../src/protocol/mcp/face.ts';
import type { EndedCallWhy, RuleWhy, SessionWhy, ToolCallWhy } from '../../src/sessions/face.ts';
import type { OpenQuestion } from './agentRequests.ts';
import type { Prompt } from './prompt.ts';

/** The prompts of a client that have no answer, and the agent behind them. */
interface PendingPrompts {
  readonly name: string;
  readonly clock: Clock;
  readonly path: Pick<CallPath<Prompt, McpAnswer>, 'link' | 'why'>;
  readonly pid: number | undefined;
  readonly prompts: readonly Prompt[];
  readonly questions: Iterable<OpenQuestion>;
  readonly refused: { readonly prompt: Prompt; readonly failure: Failure; readonly at: number } | undefined;
}

/** Tells what the client of an agent waits for, in the form of a session: its connection is one. */
export function acpWhy({ name, clock, path, pid, prompts, questions, refused }: PendingPrompts): SessionWhy {
  const { link } = path;
  const now = clock.now();
  const asked = [...questions];
  const circuit = circuitOf(link);
  const probe = circuit === 'open' ? { probeInMs: Math.max(0, link.openUntil - now) } : {};
  const target = { state: link.state, circuit, ...probe, process: { pid } };
  const calls = prompts.flatMap((prompt): readonly ToolCallWhy[] => {
    const { row, session } = prompt;
    const progress = row === undefined ? undefined : path.why(row);
    if (row === undefined || progress === undefined) return [];
    const about = { call: `${name}-${row.number}`, integration: name, tool: `session/prompt of ${session.id}` };
    const question = asked.find((each) => each.session === session.id);
    const waitsFor = prompt.isAtAgent ? waitText(prompt.turn, progress, question, now) : undefined;
    const conversation = session.agentId;
    return [{ ...about, sinceMs: now - row.startedAt, progress, target, waitsFor, conversation }];
  });
  const next = calls
    .flatMap(({ call, tool, progress }): readonly RuleWhy[] =>
      progress === undefined ? [] : [{ ...progress.next, id: `${call}:${progress.next.id}`, what: tool, call }],
    )
    .toSorted((one, other) => one.inMs - other.inMs)[0];
  return {
    session: name,
    state: 'connected to its client',
    waiting: prompts.length - calls.length,
    heldElsewhere: false,
    calls,
    ended: refused === undefined ? [] : [endedPrompt(name, refused, now)],
    questions: asked.map(({ id, what, sinceMs }) => ({ question: id, what, sinceMs })),
    rules: [],
    next,
  };
}

/** Tells what a prompt that its agent has waits for: a person, a tool, or the model, which may be wedged. */
function waitText({ openTool }: AcpTurn, progress: CallWhy, question: OpenQuestion | undefined, now: number): string {
  if (question !== undefined) return `waits for you (${question.what}) for ${formatDuration(question.sinceMs)}`;
  if (openTool !== undefined) return `waits for tool ${openTool.title} for ${formatDuration(now - openTool.beganAt)}`;
  const { silentMs = 0, next, also = [] } = progress;
  const idle = [next, ...also].find(({ rule }) => rule === 'idle_timeout');
  const silence = formatDuration(silentMs);
  if (idle === undefined || silentMs < idle.inMs) return `the model thinks, last word ${silence} ago`;
  return `silent for ${silence}: wedged if nothing comes in ${formatDuration(idle.inMs)}`;
}

function endedPrompt(
  name: string,
  { prompt, failure, at }: { readonly prompt: Prompt; readonly failure: Failure; readonly at: number },
  now: number,
): EndedCallWhy {
  const { kind, message, attempts } = failure;
  return {
    call: `${name}-${prompt.row?.number ?? String(prompt.request.id)}`,
    integration: name,
    tool: `session/prompt of ${prompt.session.id}`,
    sinceMs: now - prompt.startedAt,
    endedAgoMs: now - at,
    ok: false,
    synthetic: true,
    failure: { kind, message },
    attempts,
    trail: [],
  };
}
