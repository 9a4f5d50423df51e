import { describe, expect, it } from 'vitest';
import { tellable } from '../../proxy/boundary/errorBoundary.ts';
import { baseName, commandKey } from '../../install/commandKey.ts';
import { statusFacts } from '../../src/actors/mcp/http/httpFailure.ts';
import { fetchFailure } from '../../src/integrations/http/fetchFailure.ts';
import { classify } from '../../src/policy/failures/face.ts';
import { textHint } from '../../src/policy/failures/textHints.ts';
import { alikeKey, isPatient } from '../../src/policy/spinning/answerKey.ts';
import { sanitize } from '../../src/policy/text/sanitize.ts';
import { endsBadly, isAsked, isNotice, looksFailed } from '../../src/protocol/acp/signs.ts';
import { KnownSecrets } from '../../src/redaction/knownSecrets.ts';
import { createTextRedactor } from '../../src/redaction/secrets.ts';

const clock = { wallNow: () => 0 } as Parameters<typeof statusFacts>[2]['clock'];
const redactor = createTextRedactor(new KnownSecrets({ API_KEY: 'a'.repeat(30), PASSWORD: 'planted-password' }));

/** What reads the words of servers, agents, APIs and settings files. */
const readers: Readonly<Record<string, (text: string) => unknown>> = {
  'the classifier': (text) => classify(Object.assign(new Error(text), { stderr: text }), { wallNow: 0 }),
  'the classifier, of a body': (text) => classify({ status: 400, body: { error: { message: text } } }, { wallNow: 0 }),
  'the hint when to come again': (text) => textHint(text, 0),
  'the refusal of a server': (text) =>
    statusFacts({ status: 500, headers: new Headers() } as Response, text, { clock, hide: (each) => each }),
  'the body of a failure': (text) => void fetchFailure(new Response(text, { status: 500 })),
  'the error of a tool': (text) => tellable(new Error(text)),
  'the redactor': (text) => redactor.text(text),
  'the terminal': sanitize,
  'the watch for repetition': (text) => [alikeKey(text), isPatient({ ok: true, value: text })],
  'the signs of an agent': (text) => [isNotice(text), isAsked(text), endsBadly(text), looksFailed(text)],
  'the command of a settings file': (text) => [baseName(text), commandKey('sh', [`-${text}`, text])],
};

/** Pieces that patterns stumble over when they come again and again, and what stands before and behind them. */
const pieces: readonly (readonly [piece: string, before?: string, behind?: string])[] = [
  ...['a', '0', ' ', '\n', '.', '-', '=', '"', '/', '\\', ':', '<', '(', '[', '{', '\u001b]', '\uFFFD'].map(
    (each) => [each, '', 'x\u0000'] as const,
  ),
  ...['<style>', '× ', 'c', 'at a\n', 'Caused by: ', '"a', 'token=', '--key ', 'http://a ', '${a:-'].map(
    (each) => [each] as const,
  ),
  ['Please resend your message', 'Network error: ', '\nP'],
  ['Please retry if you think \n', 'Ran into this error: ', 'x'],
  ['Retrying...   ', 'Info: ', 'x'],
  ['0', 'timeout ', '\u0000'],
  ['0', 'bodytimeout of ', '\u0000'],
  ['exceeded ', 'context ', '.'],
  ['limit per ', 'quota ', '!'],
];

const long = 10_000;
const factor = 8;

/** Least time of a processor for a few readings, in ms, and never less than what else the process does may take. */
function cost(read: (text: string) => unknown, text: string): number {
  let least = Infinity;
  for (let tries = 0; tries < 4; tries++) {
    const from = process.cpuUsage();
    read(text);
    least = Math.min(least, process.cpuUsage(from).user / 1000);
  }
  return Math.max(least, 2);
}

describe('what reads the words of others', () => {
  it.each(Object.entries(readers))(
    '[Q-6] %s takes time by the length of a hostile text, not by its square',
    (_, read) => {
      for (const [piece, before = '', behind = ''] of pieces) {
        const hostile = (length: number): string => before + piece.repeat(length / piece.length) + behind;
        const growth = cost(read, hostile(factor * long)) / cost(read, hostile(long));
        // As many times as it is longer, twice for the machine; its square would be 64 times.
        expect.soft(growth, JSON.stringify([before, piece, behind])).toBeLessThan(3 * factor);
      }
    },
  );
});
