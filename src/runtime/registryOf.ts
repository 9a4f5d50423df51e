import type { Registry } from './registry.ts';

/** Parts of a host that its telemetry goes by. */
export type Observed = Pick<Registry, 'runtime' | 'paths' | 'sessions' | 'status'>;

const registries = new WeakMap<object, Observed>();

/** Notes what stands behind a gateway; its own interface has no place for that. Gives the gateway back. */
export function withRegistry<G extends object>(registry: Observed, gateway: G): G {
  registries.set(gateway, registry);
  return gateway;
}

export function registryOf(gateway: object): Observed | undefined {
  return registries.get(gateway);
}
