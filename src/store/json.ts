/** Writes what was handed in as JSON; where it cannot be written as such, words that say so in its place. Never throws. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'it throws when it is read';
    return JSON.stringify({ notKept: `This could not be written as JSON: ${reason}` });
  }
}

/** The value of a JSON text, or undefined for a text that is none. */
export function fromJson(text: unknown): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(String(text)) as unknown };
  } catch {
    return undefined;
  }
}
