import { isShortage, shortageText } from '../src/actors/process/face.ts';
import { type Logger, say } from '../src/policy/text/face.ts';
import { messageOf } from '../src/policy/failures/face.ts';
import type { Registry, StartOptions } from '../src/runtime/face.ts';

/**
 * Starts the registry of a command that does its work without a store as well: where the store cannot be loaded, as this process is short of
 * something, nothing is stored.
 * @throws what the start throws otherwise.
 */
export async function startRegistry(
  registry: Registry,
  logger: Logger | undefined,
  options: StartOptions = {},
): Promise<void> {
  try {
    await registry.start(options);
  } catch (error) {
    if (!isShortage(error)) throw error;
    sayUnstored(logger, error);
    await registry.start({ storeLater: true });
  }
}

/** Tells that there is no store for now. */
export function sayUnstored(logger: Logger | undefined, error: unknown): void {
  say(logger, 'warn', `Nothing is stored: ${shortageText(error) ?? messageOf(error)}`);
}
