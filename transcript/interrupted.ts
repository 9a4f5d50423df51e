import { syntheticResult } from '../src/policy/failures/face.ts';
import { recordIn } from '../src/protocol/face.ts';

/** Stand-in for a result that was never recorded: the outcome is unknown, and nobody is blamed. */
const interrupted = syntheticResult(
  {
    kind: 'crash',
    integration: 'transcript',
    message: 'The tool call was interrupted before its result was recorded',
    outcome: 'unknown',
    attempts: 1,
    retryable: false,
  },
  0,
).error;

/** Beginnings of what other programs put in the place of a result. */
const placeholders = [
  '[Tool call interrupted: the session ended before',
  '[openclaw] missing tool result in session history',
];

/** The sentence of synthetic results, and how they are told from real ones. */
export interface Interrupted {
  readonly sentence: string;
  /** Tells whether a result's content only stands for one that was missing. */
  readonly stands: (content: unknown) => boolean;
}

/** Tells what synthetic results say, and how they are known again. */
export function interruptedBy(sentence: string | undefined): Interrupted {
  const own = sentence ?? interrupted;
  return {
    sentence: own,
    stands(content) {
      const text = onlyText(content);
      if (text === undefined) return false;
      return text === own || text === interrupted || placeholders.some((start) => text.startsWith(start));
    },
  };
}

/** The text of a content that is nothing but one text. */
function onlyText(content: unknown): string | undefined {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content) || content.length !== 1) return undefined;
  const text = recordIn(content[0])?.['text'];
  return typeof text === 'string' ? text : undefined;
}
