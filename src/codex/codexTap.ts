import { createMaskedJson } from '../redaction/maskedJson.ts';
import { KnownSecrets } from '../redaction/knownSecrets.ts';
import type { CodexWireLine } from './codexOptions.ts';

/** Fields that hold what people, models and tools say. */
const words: ReadonlySet<string> = new Set([
  'aggregatedOutput',
  'answers',
  'arguments',
  'baseInstructions',
  'changes',
  'command',
  'commandActions',
  'content',
  'contentItems',
  'delta',
  'developerInstructions',
  'diff',
  'execpolicy_amendment',
  'explanation',
  'input',
  'output',
  'preview',
  'prompt',
  'proposedExecpolicyAmendment',
  'query',
  'question',
  'reason',
  'stderr',
  'stdout',
  'step',
  'structuredContent',
  'summary',
  'text',
]);

/**
 * A wire tap: what it hears has the words left out, of which only the length is told, and secrets taken out.
 * @param env - whose secret values are looked for everywhere.
 */
export function createTap(
  tap: (line: CodexWireLine) => void,
  env: Readonly<Record<string, string | undefined>>,
): (direction: 'sent' | 'received', text: string) => void {
  const redact = createMaskedJson(new KnownSecrets(env));
  return (direction, text) => tap({ direction, line: redact(withoutWords(text)) });
}

function withoutWords(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text, (name, value: unknown) =>
      words.has(name) ? `[${lengthOf(value)} characters]` : value,
    ) as Record<string, unknown>;
  } catch {
    return { unreadable: `${text.length} characters` };
  }
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : (JSON.stringify(value) ?? '').length;
}
