/** A module of the source that no entry of the package gives. @param path - from the root. */
export function importSource(path: string): Promise<Record<string, unknown>>;

/** Builds a program of `test/` that Node runs as it is. @param path - within `test/`. @returns the file to run or to import. */
export function buildProgram(path: string, options?: { readonly isWhole?: boolean }): Promise<string>;
