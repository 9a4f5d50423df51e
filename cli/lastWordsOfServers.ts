import { withLastLine } from '../src/policy/lastLine.ts';
import type { IntegrationStatus, StoreReader } from '../src/store/storeReader.ts';

/** Integrations whose servers' last words are looked up. */
const mostLooked = 50;

/**
 * The integrations, and in the last error of each that is the end of its server the line of its stderr that says why: the record of a call holds what
 * became of the server alone.
 */
export async function withLastWords(
  reader: StoreReader,
  integrations: readonly IntegrationStatus[],
): Promise<readonly IntegrationStatus[]> {
  let looked = 0;
  const told: IntegrationStatus[] = [];
  for (const each of integrations) {
    const { integration, lastError, crashes24h } = each;
    // The last words of a server are no reason for the signal that ended it.
    const isByItself = lastError !== undefined && !lastError.error.includes(' was ended by ');
    if (!isByItself || crashes24h === 0 || looked++ >= mostLooked) {
      told.push(each);
      continue;
    }
    const query = { category: 'child', integration: `mcp:${integration}`, failed: true, limit: 1 };
    const [crash] = await reader.events(query);
    const words = crash?.metadata['error'];
    // Another end than that of the last error says nothing of it.
    const isIts = typeof words === 'string' && words.startsWith(`${lastError.error};`);
    told.push(isIts ? { ...each, lastError: { ...lastError, error: withLastLine(words) } } : each);
  }
  return told;
}
