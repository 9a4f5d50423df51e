import { createClaudeReader, messageIn } from '../../src/protocol/face.ts';

/** Longer lines pass as they are, in characters: a result is an answer, and what is said of it. */
const longestResult = 16 * 1024 * 1024;
/** Longer lines are read only if they are of Claude itself, in characters: they are results of tools. */
const longestRead = 256 * 1024;

/**
 * Gives the lines of one run of Claude as its readers should have them: where its answer came in pieces, the line of its result has all of
 * it, and not the last piece. Every other line is as it was.
 * @param answerOf - the whole answer of a session, for an output that holds the result alone, by what that says; undefined where it came in one piece.
 */
export function createResultJoiner(
  answerOf?: (sessionId: string, last: string) => string | undefined,
): (line: string) => string {
  const reader = createClaudeReader({ isStream: true });
  let lines = 0;
  return (line) => {
    lines++;
    const isOwn = line.startsWith('{"type":"assistant"') || line.includes('"type":"result"');
    if (line.length > (isOwn ? longestResult : longestRead)) return line;
    const message = messageIn(line);
    if (message === undefined) {
      reader.line(line);
      return line;
    }
    reader.take(message);
    const { type, result: said, session_id: id, num_turns: turns } = message;
    if (type !== 'result' || typeof said !== 'string' || message['is_error'] === true) return line;
    const isAlone = lines === 1 && typeof id === 'string' && typeof turns === 'number' && turns > 1;
    const whole = (isAlone ? answerOf?.(id, said) : undefined) ?? reader.report(0).text;
    return whole === undefined || !(whole.length > said.length) ? line : JSON.stringify({ ...message, result: whole });
  };
}
