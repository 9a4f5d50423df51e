import type { FailureFacts } from '../../src/policy/failure.ts';
import type { ClientKind } from './clients.ts';
import type { EventScanner } from './eventScanner.ts';
import { codexErrorOf } from './failedAnswer.ts';
import type { Dialect } from './route.ts';
import { failedResponse, lastEvents } from './streamEnd.ts';

/** Facts about the end of an answer that is over. */
interface Closing {
  readonly client: ClientKind;
  readonly dialect: Dialect;
  /** True where its connection broke, or fell silent, in place of an end. */
  readonly isBroken: boolean;
  /** Gives the facts of its error event. */
  readonly failed: () => FailureFacts;
}

/** The text that the client is still to read of an answer that is over: the last event where the API has sent none, and the error that Codex knows. */
export function closingWords(scanner: EventScanner, { client, dialect, isBroken, failed }: Closing): string {
  if (!scanner.isBetweenEvents) return '';
  if (scanner.hasFailed) {
    if (client !== 'codex' || scanner.errorName === 'response.failed' || dialect !== 'responses') return '';
    const { code, message } = codexErrorOf(scanner.errorData, failed());
    return `\n\n${failedResponse(code, message)}`;
  }
  // The API says what belongs to a clean end, but clients of messages read it as half an answer.
  const isMissing = scanner.isFinished && !scanner.isOver && (isBroken || dialect === 'messages');
  return isMissing ? `\n\n${lastEvents[dialect]}` : '';
}
