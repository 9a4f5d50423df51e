import { lateModule } from '../actors/process/lateModule.ts';
import { withInspection } from '../inspector/inspection.ts';
import { superviseApproval } from '../integrations/approvals/approvals.ts';
import { checkHook, superviseHook } from '../integrations/hooks/superviseHook.ts';
import { sessionMachine, type SessionRef } from '../machines/session.ts';
import { show } from '../policy/options/options.ts';
import { readOptions } from '../policy/options/readOptions.ts';
import { readStoredName } from '../policy/options/storedName.ts';
import { installKinds, type IntegrationKind, type MethodsOf } from '../runtime/integrationKind.ts';
import { guardProcess } from '../runtime/processGuard.ts';
import { withRegistry } from '../runtime/registryOf.ts';
import { checkGatewayOptions } from '../runtime/runtimeOptions.ts';
import { shownWhy } from '../runtime/shownWhy.ts';
import type { Session } from '../sessions/session.ts';
import { SupervisedSession } from '../sessions/supervisedSession.ts';
import { withSessionDefaults, type SessionOptions } from '../sessions/sessionOptions.ts';
import type { SessionWhy } from '../sessions/why.ts';
import { gatewayIntegrations } from './gatewayIntegrations.ts';
import { gatewayScope, type GatewayScope } from './gatewayScope.ts';
import { type CreateGatewayOptions, type Gateway, stopKeys, type StopOptions } from './gatewayTypes.ts';
import { untakenMessages } from './untaken.ts';

const reportModule = lateModule(() => import('../runtime/reportOfRuntime.ts'));
const metricsModule = lateModule(() => import('../runtime/ownMetrics.ts'));

/**
 * Makes a gateway. Nothing runs until {@link Gateway.start}; two in one process share nothing.
 * @throws TypeError or RangeError when an option is wrong.
 *
 * @example
 * const gateway = createGateway({ store: 'gateway.sqlite' });
 * const search = gateway.integration('search', { effect: 'readOnly' }, async (query: string, { signal }) => {
 *   const response = await okOrThrow(await fetch(url(query), { signal }));
 *   return response.json();
 * });
 * await gateway.start();
 * const outcome = await search.call('supervision trees');
 * await gateway.stop();
 */
export function createGateway<const Kinds extends readonly IntegrationKind[] = readonly []>(
  options: CreateGatewayOptions<Kinds> = {},
): Gateway & MethodsOf<Kinds> {
  const { kinds = [], ...own } = options;
  const scope = gatewayScope(checkGatewayOptions(own));
  return Object.assign(coreGateway(scope), installKinds(kinds, scope.registry.runtime) as MethodsOf<Kinds>);
}

function coreGateway(scope: GatewayScope): Gateway {
  const { checked, registry, hooks, approvals, tools, kept, reminder, figures } = scope;
  const { runtime } = registry;
  const { clock, bus, deadlines, tracing } = runtime;
  const startActor = (session: SupervisedSession): void =>
    runtime.supervise({
      id: `session:${session.id}`,
      logic: sessionMachine,
      input: { session: session.id, ...session.limits },
      shutdown: session.limits.releaseMs + 1000,
      onStart: (ref, incarnation) => session.attach(ref as SessionRef, incarnation),
      details: () => ({ waiting: session.waiting }),
    });
  const host = {
    id: '',
    clock,
    deadlines,
    facts: bus,
    tools,
    tracing,
    budgets: runtime.budgets,
    inbox: runtime.inbox,
    shown: (why: SessionWhy) => shownWhy(why, runtime.redactAnswer),
    clean: (text: string) => runtime.redactAnswer({ text }).text,
    kept: checked.store !== ':memory:',
    left: async (id: string) => {
      kept.leave(id);
      await registry.leaveSession(id);
    },
    named: (id: string) => {
      if (registry.sessions.has(id)) return gateway.session(id);
      const sessionOptions = registry.isLate ? undefined : adopted?.(id);
      return sessionOptions && gateway.session(id, sessionOptions);
    },
    sent: (id: string) => reminder.sent(id),
    isRunning: () => registry.running,
    wakes: (id: string) => {
      const session = registry.sessions.get(id);
      if (session !== undefined) startActor(session);
    },
  };
  let adopted: ((session: string) => SessionOptions | undefined) | undefined;

  const gateway = withInspection<Gateway>(scope.inspection, {
    ...gatewayIntegrations(scope),
    ...gatewayLife(scope),
    hook(event, handler, hookOptions = {}) {
      const checkedHook = checkHook(event, handler, hookOptions, registry.paths.size + 1, runtime.policies);
      registry.declare(`hook:${checkedHook.name}`);
      hooks.add(superviseHook(runtime, checkedHook));
    },
    runHooks: (event) => hooks.run(event),
    approval(name, handler, approvalOptions) {
      if (approvals.has(name)) throw new RangeError(`The name \`${name}\` is taken by another approval`);
      const approver = superviseApproval(runtime, name, handler, approvalOptions);
      approvals.add(name);
      return approver;
    },
    guardProcess(guardOptions) {
      const unguard = guardProcess({ facts: bus, flush: () => void runtime.store()?.flush() }, guardOptions);
      const leave = registry.join({ beforeSessions: unguard });
      return () => {
        leave();
        unguard();
      };
    },
    session<Result>(id: string, givenOptions?: SessionOptions<Result>) {
      const known = registry.sessions.get(id);
      // Its messages end with the value that its handler returns.
      if (known !== undefined && givenOptions === undefined) return known as Session<never>;
      readStoredName('session', id);
      const sessionOptions = givenOptions ?? adopted?.(id);
      if (known !== undefined) throw new RangeError(`There is a session \`${id}\` already`);
      if (sessionOptions === undefined) throw new RangeError(`No session \`${id}\`; give it an onMessage to make it`);
      registry.refuseLate();
      const session = new SupervisedSession(host, withSessionDefaults(sessionOptions, checked.sessions), id);
      registry.addSession(session);
      runtime.flights.session(id, session.limits);
      kept.add(session);
      if (!session.isAsleep) startActor(session);
      return session as Session<never>;
    },
    adoptSessions(optionsOf) {
      if (typeof optionsOf !== 'function') throw new TypeError(`Expected a function, got ${show(optionsOf)}`);
      if (scope.adoption.isAsked) throw new RangeError('Sessions are adopted already');
      adopted = optionsOf;
      scope.adoption.by((id) => {
        const sessionOptions = optionsOf(id);
        if (sessionOptions !== undefined) gateway.session(id, sessionOptions);
        return sessionOptions !== undefined;
      });
    },
    on: bus.on,
    once: bus.once,
    off: bus.off,
    wait: bus.wait,
    events: bus.events,
    inbox: runtime.inbox,
    tree: () => registry.tree(),
    restart: (name) => registry.restart(name),
    why: (session) => registry.why(session),
    untaken: () => untakenMessages(registry.sessions, kept.oldestMail(), scope.adoption.failed),
    report: async (reportOptions) => (await reportModule()).reportOfRuntime(runtime, reportOptions),
    metrics: async (metricsOptions) => (await metricsModule()).ownMetricsBody(figures, metricsOptions),
    get store() {
      return runtime.store();
    },
  });
  return withRegistry(registry, gateway);
}

/** Gives the start and the stop of a gateway. */
function gatewayLife({ registry, kept, reminder, alerts, show }: GatewayScope): Pick<Gateway, 'start' | 'stop'> {
  return {
    async start() {
      reminder.end();
      await registry.start();
      // Stopped meanwhile: the store is being closed.
      if (registry.stopped) return;
      await alerts?.start();
      registry.tellUnused();
      await kept.start(await show());
    },
    stop(options = {}) {
      const checked = checkStop(options);
      reminder.end();
      return registry.stop(checked);
    },
  };
}

/** @throws TypeError or RangeError that names the option and its value. */
function checkStop(options: StopOptions | string): { readonly drainMs: number } {
  // Signal names come here from `process.once('SIGTERM', gateway.stop)`; a throw there would end the process with its children left behind.
  if (typeof options === 'string') return { drainMs: 0 };
  return readOptions('options', options, stopKeys);
}
