/** Looks at what others throw, which can itself throw when looked at: a getter, a revoked proxy. */
function look<T>(question: () => T): T | undefined {
  try {
    return question();
  } catch {
    return undefined;
  }
}

/** The stack of an error, where it has one. Never throws. */
export function stackOf(error: unknown): string | undefined {
  const stack = look(() => (error instanceof Error ? error.stack : undefined));
  return typeof stack === 'string' ? stack : undefined;
}

/** The message of an error on one line; undefined for anything else, and for an abort without a reason of its own. Never throws. */
export function errorText(error: unknown): string | undefined {
  return look(() =>
    error instanceof Error && error.name !== 'AbortError'
      ? error.message.replaceAll(/\s+/g, ' ').slice(0, 500)
      : undefined,
  );
}
