/** Returns the text of llms.txt. */
export function llmsText(): string;
