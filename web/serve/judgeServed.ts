import { backendRule } from '../../agents/conversation/agent.ts';
import { agentKeys } from '../../agents/conversation/agentTypes.ts';
import { acpKeys } from '../../agents/conversation/acp/acpBackendOptions.ts';
import { claudeKeys, claudeRule } from '../../agents/conversation/claude/claudeBackendOptions.ts';
import { saidElsewhere } from '../../agents/conversation/codex/codexAgent.ts';
import { codexKeys } from '../../agents/codex/codexOptions.ts';
import { threadKeys } from '../../agents/codex/codexTypes.ts';
import { hookCommandKeys, hookKeys } from '../../src/integrations/hooks/face.ts';
import { commandRule } from '../../src/machines/face.ts';
import {
  type Key,
  type KeyData,
  type Keys,
  type OptionProblem,
  type Rule,
  anything,
  byName,
  collectProblems,
  complaintAt,
  list,
  section,
  text,
} from '../../src/policy/options/face.ts';
import { policyKeys } from '../../src/policy/face.ts';
import { type Served, servedHookEvents } from './serveTypes.ts';

/** Tools that an agent may use, as a file names them. */
export const approvedTools: Key<readonly string[]> = list(text({ required: true }), {
  required: true,
  expected: 'a list of names of tools',
});

const { approvalMs: _nobodyIsAsked, ...askedKeys } = agentKeys;

const codexPart: KeyData = {
  kind: 'object',
  keys: {
    ...codexKeys,
    ...Object.fromEntries(Object.keys(saidElsewhere).map((key) => [key, anything])),
    thread: section(threadKeys),
  },
  rule: ((given: object, tell) => {
    for (const [key, instead] of Object.entries(saidElsewhere))
      if (key in given) tell(key, { says: `to be left out; use ${instead}` });
  }) as Rule,
};

/** An agent as a file has it. */
const servedAgentKey: KeyData = {
  kind: 'object',
  keys: {
    ...askedKeys,
    policy: section(policyKeys),
    approve: { ...approvedTools, required: undefined },
    fallback: text(),
    claude: { kind: 'object', keys: claudeKeys, rule: claudeRule as Rule },
    codex: codexPart,
    acp: section(acpKeys),
  } satisfies Keys,
  rule: backendRule as Rule,
};

const { policy: _ofItsPreset, ...ownHookKeys } = hookKeys;

/** A hook as a file has it. */
const servedHookKey: KeyData = {
  kind: 'object',
  keys: { ...hookCommandKeys, ...ownHookKeys },
  rule: commandRule,
};

const servedKey: KeyData = section({
  agents: byName(servedAgentKey, { expected: 'objects by their names' }),
  hooks: section(
    Object.fromEntries(
      servedHookEvents.map((event) => [
        event,
        list(servedHookKey, {
          expected: 'a list of hooks: [{"command": "/path/guard", "onFailure": "block"}]',
        }),
      ]),
    ),
  ),
});

/** Everything that is wrong with agents and hooks of a file, by the tables that they are declared by; none of it where they can be served. */
export function judgeServed(parts: { readonly agents?: unknown; readonly hooks?: unknown }): readonly OptionProblem[] {
  const { problems } = collectProblems(servedKey, parts);
  return [...problems, ...fallbackProblems(parts.agents)];
}

function fallbackProblems(agents: unknown): readonly OptionProblem[] {
  if (typeof agents !== 'object' || agents === null) return [];
  const fallbacks = new Map(
    Object.entries(agents as Served['agents']).map(([name, agent]) => [name, agent?.fallback] as const),
  );
  const names = [...fallbacks.keys()];
  return names.flatMap((name) => {
    const next = fallbacks.get(name);
    if (typeof next !== 'string' || next === '') return [];
    const path = ['agents', name, 'fallback'];
    if (!fallbacks.has(next))
      return [complaintAt(path, { expected: 'the name of another agent', value: next, known: names })];
    const round = [name];
    for (let each: unknown = next; typeof each === 'string' && !round.includes(each); each = fallbacks.get(each))
      round.push(each);
    const leadsBack = fallbacks.get(round.at(-1) ?? '') === name;
    return leadsBack
      ? [complaintAt(path, { says: `to lead to another agent, not back: ${[...round, name].join(', ')}` })]
      : [];
  });
}
