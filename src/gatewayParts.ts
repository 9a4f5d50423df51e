import { UserHooks } from './actors/userHooks.ts';
import type { Agent } from './agents/agentTypes.ts';
import type { CallPath } from './calls/callPath.ts';
import type { Drainable } from './calls/draining.ts';
import { createDrain, type Drain } from './gatewayDrain.ts';
import type { CheckedGatewayOptions } from './gatewayOptions.ts';
import { createInspection, type Inspection } from './inspection.ts';
import { createKeptSessions, type KeptSessions } from './keptSessions.ts';
import { createLiveRuntime, liveStatus, type LiveRuntime, nameIn, seeRuns, sessionIn } from './liveRuntime.ts';
import { checkName } from './policy/options.ts';
import { restartNamed } from './restartNamed.ts';
import { createRuntime, type Runtime, type RuntimeOwner } from './runtime.ts';
import type { Session } from './sessions/session.ts';
import type { ToolPort } from './sessions/toolPort.ts';
import type { SessionWhy } from './sessions/why.ts';
import type { TreeNode } from './supervisor/tree.ts';
import { superviseAlerts, type SupervisedAlerts } from './superviseAlerts.ts';
import { logToHost } from './telemetry/hostLog.ts';
import { createToolPort, type ToolTarget } from './toolPort.ts';
import type { SupervisedWorkflow } from './workflow/workflow.ts';

/** What a gateway keeps of an integration. */
export type GatewayPath = Pick<
  CallPath<unknown, unknown>,
  'name' | 'link' | 'stats' | 'busy' | 'restart' | 'drain' | 'stop'
>;

/** What a gateway is made of, and what was declared for it. */
export interface GatewayParts {
  readonly checked: CheckedGatewayOptions;
  readonly owner: RuntimeOwner;
  readonly runtime: Runtime;
  readonly paths: Map<string, GatewayPath>;
  /** Names of the paths that serve what is under way, while nothing new is taken. */
  readonly serving: Set<string>;
  readonly targets: Map<string, ToolTarget>;
  readonly sessions: Map<string, Session>;
  readonly hooks: UserHooks;
  readonly agents: Set<Agent>;
  readonly workflows: Map<
    string,
    Pick<SupervisedWorkflow<unknown, unknown, unknown>, 'busy' | 'loaded' | 'started' | 'drain' | 'stop'>
  >;
  readonly approvals: Set<string>;
  readonly unguards: Set<() => void>;
  readonly tools: ToolPort;
  readonly kept: KeptSessions;
  readonly inspection: Inspection;
  readonly alerts: SupervisedAlerts | undefined;
  readonly live: LiveRuntime;
  readonly drain: Drain;
  /** @throws Error when nothing may be added any more. */
  readonly refuseLate: () => void;
  /** @throws TypeError, RangeError or Error when no integration of this name may be added. */
  readonly declare: (name: string) => void;
  readonly tree: () => TreeNode;
  readonly restart: (name: string) => void;
  readonly why: (session: string) => SessionWhy;
}

/** Puts the parts of a gateway together; nothing runs before its start. */
export function composeGateway(checked: CheckedGatewayOptions): GatewayParts {
  const owner = createRuntime(checked, { retention: checked.retention ?? false });
  const { runtime } = owner;
  const { clock, bus, deadlines, root } = runtime;
  logToHost(bus, clock, checked.logger);
  const paths: GatewayParts['paths'] = new Map();
  const serving = new Set<string>();
  const targets: GatewayParts['targets'] = new Map();
  const sessions: GatewayParts['sessions'] = new Map();
  const workflows: GatewayParts['workflows'] = new Map();
  const drained = (): readonly Drainable[] => [...sessions.values(), ...workflows.values(), ...paths.values()];
  const drain = createDrain({
    clock,
    deadlines,
    tell(order) {
      for (const each of [...sessions.values(), ...workflows.values()]) each.drain(order);
      for (const path of paths.values()) path.drain({ ...order, admits: serving.has(path.name) });
    },
    isBusy: () => drained().some(({ busy }) => busy),
  });
  const kept = createKeptSessions({
    clock,
    facts: bus,
    store: () => runtime.store(),
    seeWorld: () => seeRuns(clock, runtime.store()?.runtimes.pids() ?? []),
    takenOver: () => owner.reap(),
  });
  const inspection = createInspection(runtime);
  const alerts = checked.alerts === undefined ? undefined : superviseAlerts(runtime, checked.alerts);
  for (const path of alerts?.paths ?? []) {
    paths.set(path.name, path);
    serving.add(path.name);
  }
  const live = createLiveRuntime(runtime, checked, {
    tree: () => checked.redactAnswer(tree()),
    status: () => liveStatus(paths.values(), sessions.values(), clock),
    restart: (params) => restart(nameIn(params)),
    why: (params) => checked.redactAnswer(why(sessionIn(params))),
    inspect: () => inspection.open(),
  });

  return {
    checked,
    owner,
    runtime,
    paths,
    serving,
    targets,
    sessions,
    hooks: new UserHooks(bus, () => owner.running || owner.stopped),
    agents: new Set(),
    workflows,
    approvals: new Set(),
    unguards: new Set(),
    tools: createToolPort(targets, checked.toolCallRetry, clock),
    kept,
    inspection,
    alerts,
    live,
    drain,
    refuseLate,
    declare(name) {
      checkName('name', name);
      refuseLate();
      if (paths.has(name)) throw new RangeError(`The name \`${name}\` is taken by another integration`);
    },
    tree,
    restart,
    why,
  };

  function refuseLate(): void {
    if (owner.stopped) throw new Error('The gateway is stopped');
    if (drain.begun) throw new Error('The gateway is stopping');
  }

  function tree(): TreeNode {
    // Who reads a state has its machine follow the calls at once.
    for (const path of paths.values()) void path.link.state;
    return root.tree();
  }

  function restart(name: string): void {
    restartNamed(name, { root, paths, sessions, facts: bus });
  }

  function why(id: string): SessionWhy {
    const session = sessions.get(id);
    if (session === undefined) throw new RangeError(`No session \`${id}\`; known: ${[...sessions.keys()].join(', ')}`);
    return session.why();
  }
}
