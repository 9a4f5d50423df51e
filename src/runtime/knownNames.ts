import { readString } from '../policy/failures/errorChain.ts';
import { show } from '../policy/text/showValue.ts';

const longestList = 20;

/** Names as an error lists them. */
export function knownNames(names: Iterable<string>): string {
  const all = [...new Set(names)];
  if (all.length === 0) return 'none';
  const more = all.length > longestList ? ` and ${all.length - longestList} more` : '';
  return all.slice(0, longestList).join(', ') + more;
}

/** Why there is nothing to tell of `given`, which should be the ID of a session, and what tells of it instead. */
export function noSession(
  given: unknown,
  sessions: ReadonlyMap<string, unknown>,
  integrations: ReadonlyMap<string, unknown>,
): TypeError | RangeError {
  const known = `known sessions: ${knownNames(sessions.keys())}`;
  if (typeof given !== 'string' && sessions.has(readString(given, 'id') ?? '')) {
    return new TypeError('Expected the ID of a session, got the session itself: its own `why()` tells of it');
  }
  const name = typeof given === 'string' ? given : (readString(given, 'name') ?? '');
  if (integrations.has(name)) {
    const instead = '`state`, `breaker.state` and `stats` of an integration tell of it';
    return new TypeError(`Expected the ID of a session, got the integration \`${name}\`: ${instead}; ${known}`);
  }
  if (typeof given !== 'string') return new TypeError(`Expected the ID of a session, got ${show(given)}; ${known}`);
  return new RangeError(`No session \`${given}\`; ${known}`);
}
