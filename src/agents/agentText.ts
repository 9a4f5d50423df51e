import type { Sink } from './agentStream.ts';

/** The texts of one turn on their way to its reader: what is said in several messages is kept apart by an empty line. */
export interface TextFlow {
  /** A message begins. */
  begin(): void;
  /** The next message goes on in the middle of the last one. */
  goOn(): void;
  say(text: string): void;
  /** What the message is by now, when it is known as a whole: what was not said yet is said. */
  complete(text: string): void;
}

/** Longest message of which is remembered what was said of it, in characters. */
const longestRemembered = 1_048_576;

export function createTextFlow(sink: Sink): TextFlow {
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
    begin() {
      said = '';
      begun = true;
    },
    goOn() {
      // What was said of a message that never came whole is no part of the answer.
      isGoingOn = said === '';
    },
    say: emit,
    complete(text) {
      // Of one that is longer than what is remembered it is not known what was not said.
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
