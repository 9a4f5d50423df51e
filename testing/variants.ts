import type { Given, Keys, Values } from '../src/policy/options/face.ts';

/** What can be done, by the word under `do`: each with the keys of its options. */
export type Acts = Readonly<Record<string, Keys>>;

/** One of them as it is given. `Usual` is meant where `do` is left out. */
export type GivenAct<A extends Acts, Usual extends keyof A = never> = {
  [K in keyof A]: ByWord<K, Usual> & Given<A[K]>;
}[keyof A];

/** One of them as it was read: checked, times in ms. */
export type ReadAct<A extends Acts, Usual extends keyof A = never> = {
  [K in keyof A]: ByWord<K, Usual> & Values<A[K]>;
}[keyof A];

type ByWord<K, Usual> = K extends Usual ? { readonly do?: K | undefined } : { readonly do: K };
