export function leanTypes(tree: string, entries: readonly string[]): void;
