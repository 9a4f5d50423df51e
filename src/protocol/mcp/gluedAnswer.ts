/** A message that began in the middle of a line, and what stood before it. */
interface GluedMessage {
  readonly noise: string;
  readonly value: object;
}

/** Place where a message may begin: every one has a member of these names, and may have it first. */
const beginning = /\{\s*"(?:jsonrpc|id|result|error)"\s*:/g;
/** Each is read to its end; the messages of a server that quotes others are not looked for further. */
const mostBeginnings = 8;

/**
 * The JSON-RPC message with which a line ends that is no JSON: a server that has written something without a line end, before its
 * answer. Undefined when there is none.
 * @param isWanted - whether a message is looked for; a log may quote others.
 */
export function gluedMessage(line: string, isWanted: (value: object) => boolean): GluedMessage | undefined {
  let tried = 0;
  for (const { index } of line.matchAll(beginning)) {
    if (tried === mostBeginnings) return undefined;
    tried += 1;
    const value = objectIn(line.slice(index));
    if (value !== undefined) return isWanted(value) ? { noise: line.slice(0, index), value } : undefined;
  }
  return undefined;
}

function objectIn(text: string): object | undefined {
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}
