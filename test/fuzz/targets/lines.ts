import { createByteLines, createLineSplitter } from '../../../src/protocol/lines.ts';
import { errorAnswer, parseRpc, rpcLine } from '../../../src/protocol/jsonRpc.ts';
import {
  elementSpans,
  exactInput,
  doubledMember,
  memberCounts,
  messagesOf,
  readMessage,
  withId,
} from '../../../src/protocol/mcp/face.ts';
import { gluedMessage } from '../../../src/protocol/mcp/message.ts';
import { failureIn } from '../../../src/protocol/mcp/toolFailure.ts';
import {
  withMeta,
  withMetaTexts,
  withNotifiedToken,
  withParamText,
  withProgressToken,
  withRequestId,
  withText,
} from '../../../proxy/wire/rewrite.ts';
import { fromMcpClient, fromMcpServer } from '../seeds.ts';
import { must, pieces, same, type Target } from '../target.ts';

/** Lines of a stream: the same however they are cut, none lost, none kept that is too long. */
export function lines(): Target {
  const maxBytes = 300;
  const read = (chunks: readonly Buffer[]): string => {
    let text = '';
    const splitter = createByteLines({
      maxBytes,
      onLine: (line) => {
        must(line.length <= maxBytes + 1, 'a line is longer than the longest');
        text += `+${line.toString('latin1')}`;
      },
      onTooLong: () => (text += '!'),
    });
    for (const chunk of chunks) splitter.push(chunk);
    splitter.end();
    return text;
  };
  return {
    seeds: ['a\nb\r\nc', '\n\n', `${'x'.repeat(299)}\n${'y'.repeat(301)}\nz\n`, 'é\n😀'],
    run(input, random) {
      const whole = read([input]);
      same(read(pieces(input, random)), whole, 'lines depend on where they are cut');
      same(read(Array.from(input, (byte) => Buffer.from([byte]))), whole, 'lines depend on where they are cut');
      const expected = input.toString('latin1').split('\n');
      if (expected.at(-1) === '') expected.pop();
      same(
        whole,
        expected.map((line) => (line.length > maxBytes ? '!' : `+${line}\n`)).join(''),
        'lines are not those of the input',
      );
      const texts: string[] = [];
      const splitter = createLineSplitter({ maxBytes, onLine: (line) => texts.push(line), onTooLong: () => undefined });
      splitter.push(input);
      splitter.end();
      must(
        texts.every((line) => !line.includes('\n')),
        'a line holds a line break',
      );
    },
  };
}

/** One line of JSON-RPC, as both readers of it take it, and each change that a proxy makes to one. */
export function jsonRpc(): Target {
  return {
    seeds: [...fromMcpClient, ...fromMcpServer].flatMap((text) => text.split('\n').filter((line) => line !== '')),
    run(input) {
      const text = input.toString('utf8');
      // Lines have no line breaks.
      for (const line of text.split('\n')) readLine(line);
    },
  };
}

function readLine(line: string): void {
  const strict = parseRpc(line);
  if (strict.kind === 'garbage') must(errorAnswer(strict.id, strict.code, strict.reason).endsWith('}\n'), 'no line');
  else
    same(
      JSON.stringify(parseRpc(rpcLine(strict))),
      JSON.stringify(strict).replaceAll('\u2028', '\u2028'),
      'JSON-RPC changes when it is written',
    );
  const message = readMessage(line);
  const value = message.kind === 'garbage' ? undefined : (JSON.parse(line) as unknown);
  if (message.kind === 'batch') {
    const parts = messagesOf(message, line);
    must(parts.length === message.items.length, 'a batch loses messages');
    same(
      JSON.stringify(parts.map(({ own }) => JSON.parse(own) as unknown)),
      JSON.stringify(value),
      'messages of a batch change',
    );
  }
  if (message.kind === 'garbage') {
    gluedMessage(line, () => true);
    return;
  }
  must(
    elementSpans(line).every(({ start, end }) => start < end && end <= line.length),
    'a span is none',
  );
  if (message.kind === 'answer') {
    failureIn(message);
    mustStay(line, withText(line, 'a"\\b'), ['result', 'error']);
  }
  if (message.kind !== 'request' && message.kind !== 'notification') return;
  doubledMember(line);
  memberCounts(line, 'params');
  JSON.stringify(exactInput(() => line, message.params));
  if (message.kind === 'request') {
    const changed = withId(line, 'other');
    must(
      readMessage(changed).kind === 'request' && (JSON.parse(changed) as { id: unknown }).id === 'other',
      'an id was not replaced',
    );
    mustStay(line, changed, ['id']);
  }
  const marked = withProgressToken(line, 'tok');
  if (marked !== undefined) must(paramsOf(marked)?.['_meta']?.['progressToken'] === 'tok', 'a token was not added');
  for (const changed of [
    marked ?? line,
    withMetaTexts(line, { traceparent: 'x', 'a"b': 'y' }),
    withParamText(line, ['arguments', 'key'], 'v'),
    withRequestId(line, 'r'),
    withNotifiedToken(line, 1),
    withMeta(line, 'progressToken', 'z'),
  ])
    mustStay(line, changed, ['params']);
}

type Fields = Record<string, unknown>;

const paramsOf = (line: string) => (JSON.parse(line) as { params?: Record<string, Fields> }).params;

/** All but these members is as it was. */
function mustStay(line: string, changed: string, but: readonly string[]): void {
  const [before, after] = [JSON.parse(line) as Fields, JSON.parse(changed) as Fields];
  for (const name of but) {
    delete before[name];
    delete after[name];
  }
  same(JSON.stringify(after), JSON.stringify(before), 'a change changes more');
}
