import { classify } from '../../policy/failures/classify.ts';
import type { FailureFacts } from '../../policy/failures/failure.ts';
import type { AgentProfile } from './profile.ts';

/** Word of an agent on its failure. */
interface ToldFailure {
  readonly message: string;
  readonly status?: number | undefined;
  /** Kind where neither words nor status tell one. */
  readonly kind?: FailureFacts['kind'] | undefined;
}

/**
 * Makes a failure of an agent's own word on it.
 * @param wallNow - wall time in ms.
 * @param retriesItself - whether the agent may have repeated the request by itself: its attempts would be multiplied by ours.
 */
export function agentFailure(
  { title, kinds = [], retries }: AgentProfile,
  { message, status, kind }: ToldFailure,
  wallNow: number,
  retriesItself = false,
): FailureFacts {
  const found = classify({ message, ...(status !== undefined && { status }) }, { wallNow, patterns: kinds });
  const isUnknown = found.kind === 'unknown';
  const facts: FailureFacts = {
    ...found,
    cause: undefined,
    ...(isUnknown && kind !== undefined && { kind }),
    ...(isUnknown && /\bempty response\b|^No response was returned/i.test(message) && { reason: 'empty_response' }),
  };
  if (retries === undefined) return facts;
  const isRepeated = retriesItself && repeatsItself({ retries }, { kind: facts.kind, message });
  // Nothing tells whether the API asked for a second or for an hour.
  const isUntold = facts.kind === 'rate_limit' && facts.retryAfterMs === undefined;
  if (!isRepeated && !isUntold) return facts;
  const by = isRepeated ? `; ${title} has asked again by itself` : '';
  return { ...facts, message: `${facts.message.trimEnd()}${by}`, shouldRetry: false };
}

/** Tells whether an agent repeats by itself what fails like this. */
export function repeatsItself(
  { retries }: Pick<AgentProfile, 'retries'>,
  { kind, message }: Pick<FailureFacts, 'kind' | 'message'>,
): boolean {
  return retries?.kinds.includes(kind) === true && retries.except?.some((text) => message.includes(text)) !== true;
}

// oxlint-disable-next-line no-control-regex -- an escape begins a color
const ansi = /\u001b\[[\d;]*m/g;
/** Longest text of its own that an agent prints in place of an answer, in characters. */
const longestErrorText = 4000;

/** Returns the line of an agent's stderr that tells why it failed, without its colors; undefined where there is none. */
export function errorLineIn(
  stderr: string,
  { errorLines = [] }: AgentProfile,
  exitCode: number | undefined,
): string | undefined {
  const lines = stderr
    .replaceAll(ansi, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const isFailed = exitCode !== 0;
  const counted = isFailed ? lines : lines.slice(-1);
  return counted.findLast((line) =>
    errorLines.some(({ begins, atExit0 = false }) => line.startsWith(begins) && (isFailed || atExit0)),
  );
}

/** Returns an agent's own words on a failure at the end of what it printed as its answer; undefined where a model may have written that. */
export function errorTextIn(printed: string, { errorTexts = [] }: AgentProfile): string | undefined {
  const text = printed.trimEnd();
  for (const { begins, ends } of errorTexts) {
    if (!text.endsWith(ends)) continue;
    const at = text.startsWith(begins) ? 0 : text.lastIndexOf(`\n${begins}`) + 1;
    if ((at > 0 || text.startsWith(begins)) && text.length - at <= longestErrorText) return text.slice(at);
  }
  return undefined;
}
