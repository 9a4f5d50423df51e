export function leanModule(code: string): string;
