import { defineKind, type IntegrationKind } from '../../src/runtime/integrationKind.ts';
import { superviseCodex } from './codex.ts';
import type { CodexOptions } from './codexOptions.ts';
import type { Codex } from './codexTypes.ts';

/** Methods that a gateway has with {@link codexKind}. */
export interface CodexMethods {
  /**
   * Codex's app-server, started by the first thread that needs it: each turn is a call.
   * @throws TypeError or RangeError when an option is wrong or the name is taken.
   */
  codex(name: string, options?: CodexOptions): Codex;
}

/**
 * Codex's app-server as an integration of a gateway.
 *
 * @example
 * const gateway = createGateway({ store: 'gateway.sqlite', kinds: [codexKind] });
 * const codex = gateway.codex('codex');
 */
export const codexKind: IntegrationKind<CodexMethods> = defineKind('codex', (runtime) => ({
  codex(name: string, options: CodexOptions = {}): Codex {
    runtime.declare(name);
    runtime.policies.refuseAbout(name, 'Codex', ['tools', 'reconcile', 'whenAlive']);
    return superviseCodex(runtime, name, options, { logger: runtime.logger });
  },
}));
