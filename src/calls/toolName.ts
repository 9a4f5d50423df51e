import type { CallPathOptions } from './callPathOptions.ts';

/** The tool that an input calls; undefined where it calls none, or cannot be read: an input is whatever its caller gave. Never throws. */
export function toolName<I, O>({ toolOf }: Pick<CallPathOptions<I, O>, 'toolOf'>, input: I): string | undefined {
  try {
    const tool = toolOf?.(input);
    return typeof tool === 'string' && tool !== '' ? tool : undefined;
  } catch {
    return undefined;
  }
}
