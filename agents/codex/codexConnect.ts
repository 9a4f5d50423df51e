import { checkGatewayOptions, type GatewayOptions } from '../../src/runtime/runtimeOptions.ts';
import type { Outcome } from '../../src/policy/failure.ts';
import { checkName, checkObject } from '../../src/policy/options.ts';
import { Registry } from '../../src/runtime/registry.ts';
import { withRegistry } from '../../src/runtime/registryOf.ts';
import { logToHost } from '../../src/telemetry/hostLog.ts';
import { superviseCodex } from './codex.ts';
import type { CodexOptions } from './codexOptions.ts';
import type { Codex } from './codexTypes.ts';

/** A Codex of one's own, without a gateway. */
export interface ConnectCodexOptions
  extends CodexOptions,
    Pick<GatewayOptions, 'store' | 'clock' | 'random' | 'logger'> {
  /** Name of the integration, in records. @defaultValue 'codex' */
  readonly name?: string | undefined;
}

/**
 * Starts Codex's app-server under a runtime of its own, which `close()` ends.
 * @returns the connection, or why there is none: never rejects for what Codex does.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 *
 * @example
 * const codex = unwrap(await connectCodex({ approve: async ({ kind }) => (kind === 'command' ? 'accept' : 'decline') }));
 * const thread = unwrap(await codex.startThread({ cwd, approvalPolicy: 'on-request' }));
 * const turn = thread.send('Fix the failing test');
 * for await (const event of turn) if (event.type === 'text.delta') process.stdout.write(event.text);
 * const outcome = await turn.outcome;
 * await codex.close();
 */
export async function connectCodex(options: ConnectCodexOptions = {}): Promise<Outcome<Codex>> {
  checkObject('options', options);
  const { name = 'codex', store, clock, random, logger, ...own } = options;
  checkName('name', name);
  const checked = checkGatewayOptions({ store, clock, random, logger, control: false });
  const registry = new Registry(checked);
  const { runtime } = registry;
  logToHost(runtime.bus, runtime.clock, checked.logger);
  const close = (): Promise<void> => registry.stop();
  const codex = superviseCodex(runtime, name, own, { logger: checked.logger, close });
  await registry.start();
  const connected = await codex.connect();
  if (connected.ok) return { ok: true, value: withRegistry(registry, codex) };
  await close();
  return connected;
}
