import { dbWords } from '../src/policy/shownCommand.ts';
import { wrapWords } from '../src/policy/textWidth.ts';
import type { OtherRuntime } from '../operator/unlisted.ts';
import type { Io } from './io.ts';
import { sanitize } from './sanitize.ts';
import { ago } from './timeText.ts';

/** More of them are told by their number. */
const mostOthers = 8;

/** Lists runtimes on other databases, and the command that looks there; a command is never broken, so that it can be copied. */
export function othersText(others: readonly OtherRuntime[], now: number, io: Pick<Io, 'columns'>): string {
  const lines = others
    .slice(0, mostOthers)
    .flatMap(({ name, pid, startedAt, database }) => [
      ...wrapWords(`${sanitize(name)} (pid ${pid}, started ${ago(startedAt, now)})`, io.columns - 2).map(
        (line) => `  ${line}`,
      ),
      `    unwedge status${dbWords(database)}`,
    ]);
  const more = others.length - mostOthers;
  const rest = more > 0 ? [`  … and ${more} more: --json has all`] : [];
  return `${[...wrapWords('Gateways and proxies that run on other databases:', io.columns), ...lines, ...rest].join('\n')}\n`;
}
