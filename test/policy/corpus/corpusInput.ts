import { readFileSync } from 'node:fs';
import { classify } from '../../../src/policy/failures/classify.ts';
import type { EffectOutcome, FailureFacts, FailureKind, FailureReason } from '../../../src/policy/failures/failure.ts';
import { exitFacts } from '../../../src/actors/process/processExit.ts';
import { failureOf } from '../../../src/integrations/http/fetchFailure.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import type { ProcessExit } from '../../../src/machines/subprocessExit.ts';
import { failureOfEvent } from '../../../proxy/api/failedAnswer.ts';
import { redactorOf } from '../../../src/redaction/requestSecrets.ts';

/** A failure as somebody met it, and what table 1 says of it. */
export interface CorpusRow {
  readonly name: string;
  readonly from: string;
  readonly as: 'http' | 'text' | 'error' | 'stream' | 'command';
  readonly input: unknown;
  /** `null` where the table leaves it open. */
  readonly kind: FailureKind | null;
  readonly reason?: FailureReason;
  readonly outcome?: EffectOutcome;
  readonly retryAfterMs?: number;
  /** When it was said. */
  readonly at?: string;
  /** Whether an undeclared call may be made again; `null` where its kind forbids it already, or the table leaves it open. */
  readonly mayRepeat: boolean | null;
  /** Why its label is not taken for right. */
  readonly disputed?: string;
}

export const corpus = (file: string): readonly CorpusRow[] =>
  JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8')) as CorpusRow[];

const usualTime = Date.UTC(2026, 2, 2, 12);

/** What is found out about the failure of a row, by the way in which such a failure comes. */
export async function factsOf({ as, input, at }: CorpusRow): Promise<FailureFacts> {
  const wallNow = at === undefined ? usualTime : Date.parse(at);
  switch (as) {
    case 'text':
      return classify(new Error(String(input)), { wallNow });
    case 'error':
      return classify(errorOf(input), { wallNow });
    case 'http':
      return classify(await answerOf(input as Answer), { wallNow });
    case 'stream':
      return failureOfEvent(JSON.stringify((input as { data: unknown }).data), 'the stream', wallNow, 60_000);
    case 'command':
      return exitOf(input as Exit, wallNow);
  }
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

function answerOf({ status, headers = {}, body }: Answer): Promise<Error> {
  const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
  const limits = { maxBodyBytes: 4096, bodyMs: 1000, clock: systemClock, redact: redactorOf('') };
  return failureOf(new Response(text, { status, headers }), limits);
}

/** An object of the corpus as it was thrown: with its class, and its inner errors too. */
function errorOf(input: unknown): unknown {
  const word = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  if (Array.isArray(input)) return input.map(errorOf);
  if (typeof input !== 'object' || input === null) return input;
  const { class: className, ...fields } = input as Record<string, unknown>;
  const filled = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, errorOf(value)]));
  const known = word(className) ?? word(fields['name']);
  if (known === undefined) return filled;
  const name = known.replaceAll(/\W/g, '_');
  const Named = { [name]: class extends Error {} }[name] ?? Error;
  const error = new Named(word(fields['message']) ?? '');
  for (const [key, value] of Object.entries(filled)) {
    Object.defineProperty(error, key, { value, enumerable: key !== 'message', configurable: true, writable: true });
  }
  return error;
}

interface Exit {
  readonly exitCode?: number;
  readonly code?: number;
  readonly signal?: string;
  readonly stderr?: string;
  readonly stdout?: string;
}

function exitOf({ exitCode, code, signal, stderr = '', stdout = '' }: Exit, wallNow: number): FailureFacts {
  const output = (text: string) => ({ text, bytes: Buffer.byteLength(text), omittedBytes: 0 });
  const exit = {
    reason: signal === undefined ? 'exit' : 'signal',
    message: '',
    exitCode: signal === undefined ? (exitCode ?? code ?? 1) : undefined,
    signal,
    stdout: output(stdout),
    stderr: output(stderr),
    startedAt: wallNow,
    endedAt: wallNow,
  } as unknown as ProcessExit;
  return exitFacts(exit) ?? { kind: 'unknown', message: 'it ended well', outcome: 'unknown' };
}
