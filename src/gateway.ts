import { superviseApproval } from './approvals.ts';
import { gatewayIntegrations } from './gatewayIntegrations.ts';
import { gatewayLife } from './gatewayLife.ts';
import { checkGatewayOptions, type GatewayOptions } from './gatewayOptions.ts';
import { composeGateway } from './gatewayParts.ts';
import type { Gateway } from './gatewayTypes.ts';
import { withInspection } from './inspection.ts';
import { sessionMachine, type SessionRef } from './machines/session.ts';
import { guardProcess } from './processGuard.ts';
import { Session } from './sessions/session.ts';
import { withSessionDefaults } from './sessions/sessionDefaults.ts';
import { checkHook, superviseHook } from './superviseHook.ts';

/**
 * Makes a gateway. Nothing runs until {@link Gateway.start}; two in one process share nothing.
 * @throws TypeError or RangeError when an option is wrong.
 *
 * @example
 * const gateway = createGateway({ store: 'gateway.sqlite' });
 * const search = gateway.integration('search', { effect: 'readOnly' }, async (query: string, { signal }) => {
 *   const response = await fetch(url(query), { signal });
 *   if (response.ok) return response.json();
 *   throw Object.assign(new Error(response.statusText), { status: response.status, headers: response.headers });
 * });
 * await gateway.start();
 * const outcome = await search.call('supervision trees');
 * await gateway.stop();
 */
export function createGateway(options: GatewayOptions = {}): Gateway {
  const parts = composeGateway(checkGatewayOptions(options));
  const { checked, owner, runtime, paths, serving, sessions, hooks, approvals, unguards, tools, kept } = parts;
  const { declare, refuseLate, tree, restart, why } = parts;
  const { clock, bus, deadlines } = runtime;

  return withInspection<Gateway>(parts.inspection, {
    ...gatewayIntegrations(parts),
    ...gatewayLife(parts),
    hook(event, handler, hookOptions = {}) {
      const checkedHook = checkHook(event, handler, hookOptions, paths.size + 1, runtime.policies);
      declare(`hook:${checkedHook.name}`);
      const hook = superviseHook(runtime, checkedHook);
      paths.set(hook.path.name, hook.path);
      serving.add(hook.path.name);
      hooks.add(hook);
    },
    runHooks: (event) => hooks.run(event),
    approval(name, handler, approvalOptions) {
      if (approvals.has(name)) throw new RangeError(`The name \`${name}\` is taken by another approval`);
      const approver = superviseApproval(runtime, () => owner.running, name, handler, approvalOptions);
      approvals.add(name);
      return approver;
    },
    guardProcess(guardOptions) {
      const unguard = guardProcess({ facts: bus, flush: () => void runtime.store()?.flush() }, guardOptions);
      unguards.add(unguard);
      return unguard;
    },
    session(id, sessionOptions) {
      const known = sessions.get(id);
      if (known !== undefined && sessionOptions === undefined) return known;
      if (known !== undefined) throw new RangeError(`There is a session \`${id}\` already`);
      if (sessionOptions === undefined) throw new RangeError(`No session \`${id}\`; give it an onMessage to make it`);
      refuseLate();
      const about = { id, clock, deadlines, facts: bus, tools, kept: checked.store !== ':memory:' };
      const session = new Session(about, withSessionDefaults(sessionOptions, checked.sessions));
      sessions.set(id, session);
      kept.add(session);
      runtime.supervise({
        id: `session:${id}`,
        logic: sessionMachine,
        input: { session: id, ...session.limits },
        shutdown: session.limits.releaseMs + 1000,
        onStart: (ref, incarnation) => session.attach(ref as SessionRef, incarnation),
        details: () => ({ waiting: session.waiting }),
      });
      return session;
    },
    on: bus.on,
    once: bus.once,
    off: bus.off,
    wait: bus.wait,
    events: bus.events,
    tree,
    restart,
    why,
    get store() {
      return runtime.store();
    },
  });
}
