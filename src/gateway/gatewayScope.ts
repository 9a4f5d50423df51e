import { superviseAlerts } from '../alerts/superviseAlerts.ts';
import { tellQuestions } from '../alerts/tellQuestions.ts';
import { createInspection } from '../inspector/inspection.ts';
import { UserHooks } from '../integrations/hooks/userHooks.ts';
import type { Clock } from '../policy/clock.ts';
import { type Logger, say } from '../policy/text/logger.ts';
import { Adoption } from '../runtime/adoption.ts';
import { createKeptSessions } from '../runtime/keptSessions.ts';
import { OwnFigures } from '../runtime/ownFigures.ts';
import { Registry } from '../runtime/registry.ts';
import type { CheckedGatewayOptions } from '../runtime/runtimeOptions.ts';
import { seeRuns } from '../runtime/seeRuns.ts';
import { logToHost } from '../telemetry/hostLog.ts';
import { createToolPort, type ToolTarget } from '../sessions/toolPort.ts';

/** A gateway's additions to its registry. */
export type GatewayScope = ReturnType<typeof gatewayScope>;

/** Puts a gateway together; nothing runs before its start. */
export function gatewayScope(checked: CheckedGatewayOptions) {
  const registry = new Registry(checked, { retention: checked.retention ?? false });
  const { runtime } = registry;
  const { clock, bus } = runtime;
  logToHost(bus, clock, checked.logger);
  const targets = new Map<string, ToolTarget>();
  const adoption = new Adoption({
    clock,
    logger: checked.logger,
    facts: bus,
    has: (session) => registry.sessions.has(session),
  });
  const kept = createKeptSessions({
    adoption,
    clock,
    facts: bus,
    store: () => runtime.store(),
    seeWorld: async () => seeRuns(clock, (await runtime.store()?.runtimes.pids()) ?? []),
    takenOver: () => registry.reap(),
  });
  registry.join({ afterChildren: () => kept.stop() });
  const inspection = createInspection(runtime);
  const alerts = checked.alerts === undefined ? undefined : superviseAlerts(runtime, checked.alerts);
  const { inbox } = checked;
  if (typeof inbox === 'object' && inbox.notify !== undefined) tellQuestions(runtime, inbox.notify);
  const shown = registry.show({ methods: { inspect: () => inspection.open(), alerts: () => alerts?.open ?? [] } });
  registry.join({ afterChildren: () => inspection.close() });

  return {
    checked,
    registry,
    /** Integrations as sessions call them, by name. */
    targets,
    tools: createToolPort(targets, checked.toolCallRetry, clock),
    hooks: new UserHooks(bus, () => registry.running || registry.stopped),
    /** Names of approvals, which are no integrations. */
    approvals: new Set<string>(),
    kept,
    adoption,
    reminder: new StartReminder(clock, checked.logger),
    inspection,
    alerts,
    figures: new OwnFigures(registry),
    /** Makes the gateway known to commands of other processes. */
    show: () => shown.open(),
  };
}

/** Says, once, that messages wait for the start of their gateway: nobody else would, and a process that awaits them ends without a word. */
class StartReminder {
  readonly #clock: Pick<Clock, 'nextTurn'>;
  readonly #logger: Logger | undefined;
  #isOver = false;

  constructor(clock: Pick<Clock, 'nextTurn'>, logger: Logger | undefined) {
    this.#clock = clock;
    this.#logger = logger;
  }

  /** The gateway is being started, or stopped. */
  end(): void {
    this.#isOver = true;
  }

  /** A session was sent a message. A program may well start its gateway in the same turn of its event loop. */
  sent(session: string): void {
    if (!this.#isOver) this.#clock.nextTurn(() => this.#remind(session));
  }

  #remind(session: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const text = `The session ${session} has a message, and its gateway has not started yet: messages wait for gateway.start()`;
    if (this.#logger === undefined) process.emitWarning(text, 'UnwedgeWarning');
    else say(this.#logger, 'warn', text);
  }
}
