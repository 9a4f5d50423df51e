/** Says where the program was, and not what is wrong: frames of a stack, what closes one, the version of Node. */
const beside = /^(?:at |\^+$|[{}[\]()]+[,;]?$|Node\.js v\d|\S+: .*[,[{]$|File ".*", line \d)/;
/** Begins what is wrong in the words of most programs. */
const telling = /error|exception|panic|fatal|cannot|not found|no such/i;

/**
 * The line of what a program wrote to stderr last that says what is wrong: the last one that names an error, else the last one. Undefined when there is none.
 * @param text - lines, or lines that were joined by ` | `.
 */
export function lastLine(text: string): string | undefined {
  const lines = text
    .split(/\n| \| /)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !beside.test(line));
  return lines.findLast((line) => telling.test(line)) ?? lines.at(-1);
}

/** Tells whether the text says that something is wrong, in the words of most programs. */
export function namesError(text: string): boolean {
  return telling.test(text);
}

/** Mark between what became of a server and what it wrote last, in messages about its end. */
const mark = '; stderr: ';

/** A message about the end of a server, with the one line of its stderr that says what is wrong in place of all that is known of it. */
export function withLastLine(message: string): string {
  const at = message.indexOf(mark);
  if (at < 0) return message;
  const line = lastLine(message.slice(at + mark.length));
  return line === undefined ? message.slice(0, at) : `${message.slice(0, at)}: ${line}`;
}
