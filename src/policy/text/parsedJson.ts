/** The value that a text is as JSON; undefined when it is none. Never throws. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
