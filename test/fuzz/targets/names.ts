import { parseDuration } from '../../../operator/parseDuration.ts';
import { quoted, toJson } from '../../../cli/sanitize.ts';
import { ByPattern } from '../../../src/policy/byPattern.ts';
import { checkName } from '../../../src/policy/options/face.ts';
import { durationText, formatDuration, formatLatency, formatSeconds, msIn } from '../../../src/policy/text/duration.ts';
import {
  boundedJson,
  boundedText,
  fitName,
  fitText,
  globFits,
  isProgram,
  nearest,
  nearestId,
  plainJson,
  plainText,
  programFlaw,
  sanitize,
  shownUrl,
  textWidth,
  wrapWords,
} from '../../../src/policy/text/face.ts';
import { withoutSignIn } from '../../../src/policy/text/postgresUrl.ts';
import { commandAbout, dbWords, optionWords, shellWord } from '../../../src/policy/text/shownCommand.ts';
import { createTextRedactor } from '../../../src/redaction/secrets.ts';
import { KnownSecrets } from '../../../src/redaction/knownSecrets.ts';
import { commandKey } from '../../../install/commandKey.ts';
import { isPlainCommand, splitShell } from '../../../install/hookText.ts';
import { classify } from '../../../src/policy/failures/classify.ts';
import { expecting, must, mustBePlain, same, type Target } from '../target.ts';

const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789';

/** Names, durations, sizes, patterns and other short texts of people: what is shown of them is plain, and reads as what they are. */
export function names(): Target {
  const redactor = createTextRedactor(new KnownSecrets({ MY_TOKEN: secret }));
  const known = ['status', 'events', 'why', 'serve:main', 'kb'];
  return {
    seeds: [
      '30s',
      '1.5h',
      '1h30m',
      '500ms',
      '7d',
      'serve:agent/1',
      'kb.*',
      '*read*',
      'postgres://u:p%40@h:5/db?schema=x',
      '--name=-x',
      '/^a+$/i',
      secret,
      `Authorization: Bearer ${secret}`,
      '\u001b]0;x\u0007\u009b31m',
      'npx -y "a b" && ls',
      '😀é漢字',
    ],
    words: [secret, 'token=', 'postgres://', '***', "'\\''"],
    maxBytes: 400,
    // Each of these texts is read some dozens of times.
    mostSteps: (bytes) => 100_000 + 1200 * bytes,
    run(input) {
      const text = input.toString('utf8');
      const ms = msIn(text);
      if (ms !== undefined) {
        must(ms >= 0 && parseDuration('x', text) === ms, 'a duration is read in two ways');
        if (Number.isSafeInteger(ms)) must(msIn(durationText(ms)) === ms, 'a duration changes when it is written');
        for (const told of [formatDuration(ms), formatSeconds(ms), formatLatency(ms)])
          must(told.length < 30, 'a duration is long');
      } else expecting(() => parseDuration('x', text), RangeError);
      mustBePlain(sanitize(text), 'a clean line');
      same(sanitize(sanitize(text)), sanitize(text), 'a clean line is not clean');
      mustBePlain(plainText(text), 'plain text');
      mustBePlain(quoted(text), 'a quoted word');
      mustBePlain(toJson({ [text]: text }), 'JSON');
      same(
        JSON.stringify(JSON.parse(plainJson(JSON.stringify([text])))),
        JSON.stringify([text]),
        'plain JSON says something else',
      );
      {
        const width = 7;
        must(textWidth(fitText(sanitize(text), width)) <= width, 'a text is wider than it may be');
        must(textWidth(fitName(sanitize(text), width)) <= width, 'a name is wider than it may be');
      }
      wrapWords(text, 20);
      nearest(text, known);
      nearestId(text, known);
      must(globFits(text.replaceAll('*', '') + '*', `${text.replaceAll('*', '')}x`), 'a pattern does not fit');
      must(globFits('*', text) && globFits(`*${text}*`.replaceAll(/\*+/g, '*'), `a${text}b`), 'a pattern does not fit');
      new ByPattern(
        [
          [text, 1],
          ['*', 2],
        ],
        (under) => under,
      ).get(text);
      expecting(() => checkName('name', text), TypeError, RangeError);
      for (const told of [commandAbout('why', text, ''), optionWords('db', text), dbWords(text)])
        mustBePlain(told, 'a command');
      must(shellWord(text) !== '', 'a word is none');
      const shown = shownUrl(text);
      mustNotTell(shown, text);
      mustNotTell(withoutSignIn(text), text);
      isProgram(text);
      programFlaw(text, 'x');
      const words = splitShell(text);
      if (isPlainCommand(text)) must(words !== undefined, 'a plain command has no words');
      commandKey(text, words ?? []);
      must(!redactor.text(`${text} ${secret}`).includes(secret), 'a secret is told');
      must(
        Buffer.byteLength(boundedJson({ text, [text]: [text] })) <= 20_000 && boundedText(text).length <= 2100,
        'what is kept is long',
      );
      classify(new Error(text), { wallNow: 1_700_000_000_000 });
    },
  };
}

/** The password of a URL is in nothing that is shown of it. */
function mustNotTell(shown: string, url: string): void {
  const password = /^postgres(?:ql)?:\/\/[^/?#@:]*:(\w{6,})@/i.exec(url)?.[1];
  if (password !== undefined && !url.replace(`:${password}@`, '').includes(password))
    must(!shown.includes(password), 'a password is shown');
}
