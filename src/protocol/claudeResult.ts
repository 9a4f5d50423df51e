import { messageIn } from './agentReport.ts';
import { createClaudeReader } from './claudeOutput.ts';

/** Longer lines pass as they are, in characters: a result is an answer, and what is said of it. */
const longestResult = 16 * 1024 * 1024;
/** Longer lines that end nothing are not read, in characters: they are results of tools. */
const longestRead = 256 * 1024;

/**
 * Gives the lines of one run of Claude as its readers should have them: where its answer came in pieces, the line of its result has all of
 * it, and not the last piece. Every other line is as it was.
 * @param answerOf - the whole answer of a session, for an output that holds the result alone; undefined where it came in one piece.
 */
export function createResultJoiner(answerOf?: (sessionId: string) => string | undefined): (line: string) => string {
  const reader = createClaudeReader({ isStream: true });
  let lines = 0;
  return (line) => {
    lines++;
    const isResult = line.length <= longestResult && line.includes('"type":"result"') && line.startsWith('{');
    if (!isResult) {
      if (line.length <= longestRead) reader.line(line);
      return line;
    }
    const message = messageIn(line);
    const said = message?.['result'];
    if (message === undefined || typeof said !== 'string' || message['is_error'] === true) return line;
    reader.take(message);
    const { session_id: id, num_turns: turns } = message;
    const isAlone = lines === 1 && typeof id === 'string' && typeof turns === 'number' && turns > 1;
    const whole = (isAlone ? answerOf?.(id) : undefined) ?? reader.report(0).text;
    return whole === undefined || !(whole.length > said.length) ? line : JSON.stringify({ ...message, result: whole });
  };
}
