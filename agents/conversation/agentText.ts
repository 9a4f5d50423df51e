import type { Sink } from './agentStream.ts';

/** Longest message of which is remembered what was said of it, in characters. */
const longestRemembered = 1_048_576;

/** The texts of one turn on their way to its reader: what is said in several messages is kept apart by an empty line. */
export function createTextFlow(sink: Sink) {
  let said = '';
  let isFirst = true;
  let begun = true;
  let isGoingOn = false;

  const emit = (text: string): void => {
    if (text === '') return;
    if (begun && !isFirst && !isGoingOn) sink({ type: 'text', text: '\n\n' });
    begun = false;
    isGoingOn = false;
    isFirst = false;
    if (said.length < longestRemembered) said += text;
    sink({ type: 'text', text });
  };

  return {
    /** A message begins. */
    begin(): void {
      said = '';
      begun = true;
    },
    /** The next message goes on in the middle of the last one. */
    goOn(): void {
      // Text of a message that never came whole is no part of the answer.
      isGoingOn = said === '';
    },
    say: emit,
    /** Completes the message, when it is known as a whole: all that was not said yet is said. */
    complete(text: string): void {
      // A message longer than what is remembered has an unsaid rest that is not known.
      const isLong = said.length >= longestRemembered;
      const rest = isLong ? '' : text.startsWith(said) ? text.slice(said.length) : text;
      // Cut off and begun again: what was said of the first try does not count.
      if (said !== '' && rest === text) {
        said = '';
        begun = true;
      }
      emit(rest);
      said = '';
      begun = true;
    },
  };
}
