import { closeSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { messageIn } from '../../protocol/agentReport.ts';
import { ClaudeAnswer } from '../../protocol/claudeAnswer.ts';
import type { Environment } from '../../store/paths.ts';

/** Most that is read of the end of a session, in bytes: its last answer is there. */
const maxBytes = 8 * 1024 * 1024;

/**
 * The last answer of a session that Claude keeps on disk, where that came in pieces: `--output-format json` prints the last piece alone.
 * Undefined where it came in one, or where there is no such file. Never throws.
 * @param last - what the result says: a session whose last answer ends otherwise is not of this run, or has gone on since.
 */
export function joinedAnswerOf(sessionId: string, last: string, env: Environment): string | undefined {
  if (!/^[\w-]+$/.test(sessionId)) return undefined;
  const home = env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? '', '.claude');
  try {
    const projects = join(home, 'projects');
    for (const project of readdirSync(projects)) {
      const text = endOf(join(projects, project, `${sessionId}.jsonl`));
      if (text === undefined) continue;
      const answer = new ClaudeAnswer();
      for (const line of text.split('\n')) {
        const message = messageIn(line);
        if (message !== undefined) answer.take(message);
      }
      return answer.joined(last);
    }
  } catch {
    // Claude keeps no sessions here.
  }
  return undefined;
}

function endOf(path: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    const { size } = fstatSync(file);
    const buffer = Buffer.alloc(Math.min(size, maxBytes));
    const read = readSync(file, buffer, 0, buffer.length, size - buffer.length);
    return buffer.toString('utf8', 0, read);
  } finally {
    closeSync(file);
  }
}
