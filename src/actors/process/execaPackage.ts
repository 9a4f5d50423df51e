export type Execa = typeof import('execa')['execa'];

let load: () => Promise<{ readonly execa: Execa }> = () => import('execa');
let loaded: Execa | undefined;

/** Has a program that is started often load a copy of its own in place of the package: one file in place of some sixty. To be said before a command is started. */
export function bringExeca(copy: typeof load): void {
  load = copy;
}

/** Loads what starts commands. Rejects as an import does. */
export async function loadExeca(): Promise<Execa> {
  loaded ??= (await load()).execa;
  return loaded;
}

/** Gives the function that starts commands; undefined until it is loaded. */
export function loadedExeca(): Execa | undefined {
  return loaded;
}
