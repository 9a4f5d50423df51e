/** A regular expression as a file holds it: `/source/flags`. */
const expression = /^\/(?<source>.+)\/(?<flags>[a-z]*)$/is;

/** Parts of a text in a configuration that is written as a regular expression. */
export interface ExpressionText {
  readonly source: string;
  readonly flags: string;
}

/** Tells whether a text is written as a regular expression: it begins with a slash, and ends with another and letters at most. */
export function isExpressionText(text: string): boolean {
  return expressionIn(text) !== undefined;
}

/** The parts of a text that is written as a regular expression. */
export function expressionIn(text: string): ExpressionText | undefined {
  const { source, flags } = expression.exec(text)?.groups ?? {};
  return source === undefined || flags === undefined ? undefined : { source, flags };
}
