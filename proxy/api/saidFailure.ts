import { readString } from '../../src/policy/failures/face.ts';
import type { SeenAnswer } from '../../src/policy/spinning/face.ts';

/** Characters at the beginning and at the end of an answer that may say how it ended. */
const [headLength, tailLength] = [400, 200];

/** Lines that Codex puts before an answer. */
const codexHead =
  /^(?:(?:Chunk ID|Wall time|Exit code|Process|Original token count|Total output lines)\b[^\n]*\n)+Output:\n?/;
/** The code that a command ended with, as Codex, goose, gemini-cli and others say it. */
const exitCode =
  /(?:^|\n)[^\S\n]*<?(?:(?:process|command|shell)[^\n]{0,20} )?exit(?:ed)?(?: with)?(?: exit)? ?(?:code|status)?[ :]{1,2}(-?\d{1,10})\b|"exit_?code"\s*:\s*(-?\d{1,10})\b/i;
/** Beginnings of failures. */
const failureHead =
  /^\s*(?:<\w+>\s*)?(?:[\w ]{0,40}(?:error|failed|failure|exception) ?[:(]|error (?:executing|calling|running|reading|writing) |(?:fatal|panic): |traceback \(|failed to |cannot |can't |could not |unable to |unsupported |unknown |invalid |no such |permission denied|file not found|(?:file|tool|function|command) [^\n]{1,200}(?:not found|does not exist)|(?:the )?tool call (?:failed|returned the following error)|the arguments provided to the tool are invalid|[\w./-]{1,60}: [^\n]{0,200}(?:not found|no such file|permission denied|cannot |can't ))/i;
/** JSON that says so of itself. */
const failureJson =
  /^\s*\{\s*"(?:error"\s*:(?!\s*(?:null|false|""|\{\s*\}))|isError"\s*:\s*true|is_error"\s*:\s*true|(?:success|ok)"\s*:\s*false)/;

/** Answer of a tool as it is told to a model. @param failed - whether the protocol says so. @defaultValue undefined: its text alone does */
export function judgedAnswer(said: unknown, failed?: boolean): SeenAnswer {
  const text = saidText(said);
  if (text === undefined)
    return failed === true ? { ok: false, kind: 'error', message: '' } : { ok: true, value: said };
  const head = codexHead.exec(text.slice(0, headLength))?.[0] ?? '';
  const tookMs = Number(/Wall time: (\d+(?:\.\d+)?)/.exec(head)?.[1] ?? 0) * 1000;
  const rest = text.slice(head.length);
  const isFailure = failed ?? saysFailure(text);
  return isFailure
    ? { ok: false, kind: 'error', message: rest.trim() === '' ? text : rest, tookMs }
    : { ok: true, value: rest, tookMs };
}

/** Tells whether a text is that of a failure, where the protocol has no field for it. A code that is none of a failure decides. */
export function saysFailure(text: string): boolean {
  const [head, tail] = [text.slice(0, headLength), text.length > headLength ? text.slice(-tailLength) : ''];
  const [, code, inJson] = exitCode.exec(head) ?? exitCode.exec(tail) ?? [];
  if (code !== undefined || inJson !== undefined) return Number(code ?? inJson) !== 0;
  return failureHead.test(head) || failureJson.test(head);
}

/** Words of an answer, or of a message: its text, or those of its parts; undefined where a part is none. */
export function saidText(said: unknown): string | undefined {
  if (typeof said === 'string') return said;
  if (!Array.isArray(said)) return readString(said, 'text');
  const texts = said.map((part) => readString(part, 'text'));
  return texts.every((text) => text !== undefined) ? texts.join('\n') : undefined;
}
