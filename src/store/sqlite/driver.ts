import { loadBetterSqlite3 } from './betterSqlite3.ts';
import type { Driver, DriverLoader } from './database.ts';
import { loadNodeSqlite } from './nodeSqlite.ts';
import { messageOf } from '../../policy/failures/thrown.ts';

/** better-sqlite3 first: it runs on every Node; `node:sqlite` where its binary could not be installed. */
export const driverLoaders: readonly DriverLoader[] = [loadBetterSqlite3, loadNodeSqlite];

export type DriverSearch = { readonly ok: true; readonly driver: Driver } | NoDriver;

/** Why there is none, and what to do, one line each. */
export interface NoDriver {
  readonly ok: false;
  readonly reason: string;
  /** All that helps, in prose. */
  readonly fix: string;
  /** The command of it, for the directory of the project. */
  readonly command: string;
}

/** The first driver that works, or why there is none and the fix, one line each. Never throws. */
export async function findDriver(loaders: readonly DriverLoader[] = driverLoaders): Promise<DriverSearch> {
  const reasons: string[] = [];
  let isAbsent = false;
  for (const load of loaders) {
    try {
      return { ok: true, driver: await load() };
    } catch (error) {
      reasons.push(firstSentence(error));
      // npm drops an optional package that it cannot build: there is nothing to rebuild then.
      isAbsent ||= /Cannot find (?:package|module)/.test(messageOf(error));
    }
  }
  const command = `npm ${isAbsent ? 'install' : 'rebuild'} better-sqlite3`;
  const hint = isAbsent ? 'it needs a prebuilt binary or a compiler' : 'with pnpm `pnpm approve-builds`';
  return {
    ok: false,
    reason: `no SQLite driver works (${reasons.join('; ')})`,
    fix: `run \`${command}\` (${hint}), or use Node 22.13 or newer`,
    command,
  };
}

// An error may run over lines, and go on with advice or twenty places where the binary is not.
function firstSentence(error: unknown): string {
  const message = messageOf(error);
  const [sentence = ''] = message.split(/\.\s|\nRequire stack:/, 1);
  return sentence.replaceAll(/\s*\n\s*/g, ' ');
}
