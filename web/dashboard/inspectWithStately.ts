import { inspectionOf } from '../../src/inspector/face.ts';
import { type Given, boolean, integer, readOptions } from '../../src/policy/options/face.ts';
import { show } from '../../src/policy/text/face.ts';
import type { TreeNode } from '../../src/supervisor/face.ts';
import { systemClock } from '../../src/runtime/face.ts';
import { lateModule } from '../../src/actors/process/face.ts';

const serverModule = lateModule(() => import('./inspectServer.ts'));

/** A gateway, as `createGateway` makes it. */
export interface Inspected {
  tree(): TreeNode;
}

/** A running inspector. It does not keep the process alive. */
export interface Inspector {
  /** The page, with its token. The token shows what the machines do, so keep it as private as they are. */
  readonly url: string;
  /** Address where `createWebSocketReceiver` of `@statelyai/inspect` gets the same frames, with the token. */
  readonly webSocketUrl: string;
  /** Lets every viewer go and stops listening. Never rejects. */
  close(): Promise<void>;
}

/** Time that viewers may take to read that the gateway has stopped, in ms. */
const lingerMs = 1000;

const inspectKeys = {
  /** The port to listen on, on the loopback address. From 0 to 65535. @defaultValue 0, a free one */
  port: integer({ min: 0, max: 65_535, default: 0 }),
  /**
   * Shows Stately's own page, https://stately.ai/inspect, in place of the built-in one. It needs the internet, and what is shown goes to that third party;
   * the person who opens the page is asked first.
   * @defaultValue false
   */
  stately: boolean({ default: false }),
};

/** Place of the page, and its owner. */
export interface InspectOptions extends Given<typeof inspectKeys> {}

/**
 * Shows the machines of a gateway while they run: every supervisor, integration, session, connection and process with its chart, state
 * and events, on a page of this machine. Secrets, prompts and command lines are left out. The machines are watched only while somebody looks at
 * the page. It closes with the gateway.
 *
 * @throws TypeError or RangeError when an option is wrong, or the gateway is none.
 * @throws Error when the port cannot be had, or the gateway has stopped.
 *
 * @example
 * const inspector = await inspectWithStately(gateway);
 * console.log(inspector.url);
 */
export async function inspectWithStately(gateway: Inspected, options: InspectOptions = {}): Promise<Inspector> {
  const { port, stately } = readOptions('', options, inspectKeys);
  const frames = typeof gateway === 'object' && gateway !== null ? inspectionOf(gateway) : undefined;
  if (frames === undefined) throw new TypeError(`Expected \`gateway\` to be a gateway, got ${show(gateway)}`);
  if (frames.closed) throw new Error('The gateway is stopped');
  // Loaded now: most gateways are never looked at.
  const { startInspectorServer, statelyInspectorUrl } = await serverModule();
  const server = await startInspectorServer({
    clock: systemClock,
    open: () => frames.open(),
    port,
    ...(stately && { stately: statelyInspectorUrl }),
  });
  frames.onClose(() => void server.close(lingerMs));
  return server;
}
