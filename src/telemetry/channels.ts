import { type Channel, channel } from 'node:diagnostics_channel';
import type { FactType } from '../policy/facts.ts';

/** A channel belongs to the process: there is one of each name, however many gateways publish on it. */
const channels = new Map<FactType, Channel>();

/**
 * The channel of `node:diagnostics_channel` on which facts of this type are published when they are told: `unwedge:<type>`. Without
 * subscribers no fact is built for it.
 */
export function factChannel(type: FactType): Channel {
  let found = channels.get(type);
  if (found === undefined) {
    found = channel(`unwedge:${type}`);
    channels.set(type, found);
  }
  return found;
}
