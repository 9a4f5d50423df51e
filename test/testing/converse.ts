import type { FaultyMcpServerOptions } from '../../testing/faultyMcpServer.ts';
import { faultyServer } from '../support/faultyServer.ts';
import { converseWith } from '../support/wire.ts';

/** Runs a faulty server and talks to it line by line. */
export function converse(options: FaultyMcpServerOptions = {}) {
  const { command, args } = faultyServer(options);
  return converseWith(command, args);
}
