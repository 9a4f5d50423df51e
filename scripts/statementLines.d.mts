export function statementLines(code: string): string;
