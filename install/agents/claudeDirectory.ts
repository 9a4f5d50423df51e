import { join } from 'node:path';
import type { World } from '../world.ts';

/** Finds the folder where Claude Code keeps what is the user's. */
export function claudeDirectory({ env, home }: Pick<World, 'env' | 'home'>): string {
  return env['CLAUDE_CONFIG_DIR'] || join(home, '.claude');
}
