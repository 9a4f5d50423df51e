import { read } from '../policy/failures/errorChain.ts';
import { show } from '../policy/options/options.ts';
import type { Runtime } from './runtime.ts';

declare const methods: unique symbol;

/**
 * A kind of integration for the `kinds` of `createGateway`, with the methods that declare one. Each kind comes from the entry of its
 * purpose, so that a gateway without it does not load it.
 */
export interface IntegrationKind<Methods extends object = object> {
  readonly name: string;
  /** Carries the type of the methods; there is no such value. */
  readonly [methods]?: Methods | undefined;
}

/** The methods of all kinds of a list. */
export type MethodsOf<Kinds extends readonly IntegrationKind[]> = Kinds extends readonly [
  IntegrationKind<infer Methods>,
  ...infer Rest extends readonly IntegrationKind[],
]
  ? Methods & MethodsOf<Rest>
  : unknown;

/** A kind as it is made: what its users see of it has the type of its methods alone. */
interface InstalledKind<Methods extends object> extends IntegrationKind<Methods> {
  readonly install: (runtime: Runtime) => Methods;
}

export function defineKind<Methods extends object>(
  name: string,
  install: (runtime: Runtime) => Methods,
): IntegrationKind<Methods> {
  const kind: InstalledKind<Methods> = { name, install };
  return Object.freeze(kind);
}

/**
 * The methods of these kinds over a runtime.
 * @throws TypeError or RangeError when one is no kind, or is there twice.
 */
export function installKinds<Kinds extends readonly IntegrationKind[]>(
  kinds: Kinds,
  runtime: Runtime,
): MethodsOf<Kinds> {
  if (!Array.isArray(kinds)) throw new TypeError(`Expected \`kinds\` to be an array of kinds, got ${show(kinds)}`);
  for (const [index, kind] of kinds.entries()) {
    if (!isInstallable(kind)) throw new TypeError(`Expected \`kinds[${index}]\` to be a kind, got ${show(kind)}`);
    if (kinds.indexOf(kind) < index) throw new RangeError(`Expected \`kinds\` to have ${kind.name} once`);
  }
  return Object.assign({}, ...kinds.filter(isInstallable).map((kind) => kind.install(runtime))) as MethodsOf<Kinds>;
}

function isInstallable(kind: unknown): kind is InstalledKind<object> {
  return typeof read(kind, 'install') === 'function';
}
