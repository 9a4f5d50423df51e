import { withoutEscapes } from '../text/sanitize.ts';

const month = '(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}';
const zone = '(?: ?(?:z|utc|gmt|[a-z]{2,4}t|[+-]\\d{2}:?\\d{2}))?';
const time = `\\d{1,2}:\\d{2}:\\d{2}(?:[.,]\\d{1,9})?${zone}`;
const unit =
  '(?:ns|nanoseconds?|[uµμ]s|microseconds?|ms|msecs?|milliseconds?|s|secs?|seconds?|min|mins|minutes?|h|hrs?|hours?|days?|' +
  'sekunden?|minuten?|stunden?|segundos?|minutos?|horas?|secondes?|heures?|secondi|minuti|секунд[аы]?|минут[аы]?|' +
  '毫秒|秒|分[钟鐘間]|小[时時]|ミリ秒|時間|밀리초|초)';
/** Process or thread that stands behind the time of a line: `[4711]`, `#4711`, those of glog and those before a level. */
const behind =
  '(?:\\]? \\[\\d{3,7}(?:-\\d{1,9})?\\]| #\\d{1,7}(?=\\])| +\\d{1,9}(?= [\\w.-]{1,80}:\\d{1,6}\\])|(?: +\\d{1,16}){2}(?= +(?:debug|info|warn(?:ing)?|error|critical|fatal|[vdiwef])\\b)| \\d{1,9}(?= \\[[a-z]{4,8}\\]))?';
const uuid = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}';

/** Forms that begin with a digit, each after what is no part of a number, a word or a place such as `file.ts:12:30`. */
const digits = [
  // 2026-11-30T02:14:18.123Z, 2026/11/30 02:14, 2026-11-30
  `\\d{4}[-/]\\d{2}[-/]\\d{2}(?:[t_ ]{1,2}\\d{2}:\\d{2}(?::\\d{2}(?:[.,]\\d{1,9})?)?${zone})?${behind}(?![\\w-])`,
  // 30/Nov/2026:02:14:18 +0000, 30 Nov 2026 02:14:18 GMT
  `(?:\\d{1,9}:[a-z] )?\\d{1,2}[/ -]${month}[/ -]\\d{4}[: ]${time}`,
  // 2026年11月30日, 2時14分18秒
  '\\d{4}[年년] ?\\d{1,2}[月월] ?\\d{1,2}[日일]',
  '\\d{1,2}[時时点點시] ?\\d{1,2}[分분](?: ?\\d{1,2}[秒초])?',
  // 02:14:18.123, 2:14 pm, 02:14 UTC, 14h05
  `${time}${behind}(?!\\w|:\\d)`,
  '\\d{1,2}:\\d{2} ?(?:[ap]\\.?m\\.?|utc|gmt|uhr)(?!\\w)|\\d{1,2} ?h ?\\d{2}(?!\\w)',
  // The second or millisecond of the epoch.
  '1[5-9]\\d{8}(?:\\d{3}|\\.\\d{1,9})?(?![\\w.]|-\\d)',
  // 0.3 seconds, 12ms, 1 h 5 min; 1m 30s, 1h2m3.5s
  `(?:\\d{1,9}(?:\\.\\d{1,9})? ?${unit},? ?(?:and )?){1,4}(?!\\w)`,
  '(?:\\d{1,6}h ?)?\\d{1,6}m ?\\d{1,6}(?:\\.\\d{1,9})?s(?!\\w)',
  // Versuch 3 von 5, 第3次
  '(?<=(?:versuch|tentative|intento|tentativa|tentativo|попытка|poging|próba|försök):? (?:n[or°]\\.? ?)?)\\d{1,9}(?: ?(?:/|[a-zи]{1,3}) ?\\d{1,9})?',
  '(?<=第 ?)\\d{1,9}(?= ?[次回](?:目の)?(?:[尝嘗]|重[试試]|再?試行))',
  // 20261130T021418Z
  '\\d{8}t\\d{6}(?:[.,]?\\d{1,9})?z?(?!\\w)',
  // 4711 --- [main], 4711#4711: *17, ==4711==, thread 'main' (4711) panicked, script: line 3: 4711 Killed
  '\\d{1,7}(?= --- \\[)|\\d{1,7}#\\d{1,7}:(?: \\*\\d{1,19}(?= ))?|(?<===)\\d{1,7}(?===)|\\d{1,9}(?=\\) panicked at )',
  '(?<=: line \\d{1,6}: {1,5})\\d{1,7}(?= (?:killed|terminated|aborted|segmentation fault|bus error|illegal instruction|floating point exception)\\b)',
  // The age in the last column of a table: 12m, 3d4h
  '(?<= {2})(?:\\d{1,4}[ydhms]){1,2}(?=[ \\t]*(?:\\n|$))',
  // The context of a trace.
  '00-[\\da-f]{32}-[\\da-f]{16}-[\\da-f]{2}',
  // 3rd attempt, 3 attempts
  '\\d{1,9}(?:st|nd|rd|th)? (?:attempts?|retries|tries|try)\\b',
];

/** Forms that begin with a word. */
const words = [
  // Mon, 30 Nov 2026 02:14:18 GMT; Mon Nov 30 02:14:18 UTC 2026; Nov 30 02:14:18
  `(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?(?:\\d{1,2} ${month}|${month} {1,2}\\d{1,2})(?:,? \\d{4})?,?(?: at)? ${time}(?: \\d{4})?`,
  // pid 123, PID: 123, PGID: 123, at 0x7ffd0123
  `(?:p?pid|pgid|tid|process id|session id|chunk id|request[-_ ]?id|goroutine(?= \\d{1,9} \\[))["']?[ :=#]{1,3}["']?[\\da-f]{1,16}\\b(?!-|:[\\da-f]*\\d)`,
  'at 0x[\\da-f]{6,16}\\b',
  'process \\d{1,9}(?= (?:exited|ended|died|was|has|is|did|failed|crashed|terminated|received|not)\\b)',
  // req_011CU…, request id: abc-123, x-trace-id=…
  'req(?:uest)?[-_][a-z\\d]*\\d[\\w-]{4,}',
  `(?:x-)?(?:cf-ray|(?:req(?:uest)?|trace|span|correlation|operation|event|error|log|ray|transaction|connection|activity|reference|cf)[-_ ]?id)["'*]{0,3}[ :=#]{1,3}(?:<\\w+>)?["']?[\\w.:/+=-]{4,80}`,
  // PT12.3S; up 3 days, 4:12
  'pt(?:\\d{1,4}[hm]){0,2}\\d{1,6}(?:\\.\\d{1,9})?[hms]\\b|up(?:time)?:? (?:\\d{1,5} days?, {1,2})?\\d{1,2}:\\d{2}(?![:\\d])',
  `(?:request|trace|correlation|operation|event|transaction|reference)[ :=#(]{1,3}${uuid}\\b`,
  'host-?id["\']?[ :=]{1,3}["\']?[\\w+/=-]{32,120}',
  // "took": 12, elapsed=0.3, durationMs: 12
  '(?:took|elapsed|duration|latency|uptime|runtime)(?:[-_ ]?(?:time|in)){0,2}[-_ ]?(?:ms|millis|nanos|s|secs|seconds)?["\']?[ :=]{1,3}["\']?\\d{1,15}(?:\\.\\d{1,15})?(?: ?[nuµμ]?m?s)?(?![\\w:]|\\.\\d)',
  // attempt 3, retry #2, try 2 of 5
  '(?:attempts?|retr(?:y|ies)|try)(?:[ _-]?(?:no\\.?|number|count))?["\']?[ :=#(]{1,3}\\d{1,9}(?: ?(?:/|of) ?\\d{1,9})?\\b',
];

const volatile = new RegExp(
  [
    `(?<![\\w./-]|\\w:)(?=\\d)(?:${digits.join('|')})`,
    // Time:2026-11-30T02:14:18Z; _logs/2026-11-30T02_14_18_123Z-debug.log; (x4 over 2m)
    `(?<=[a-z]:)(?=\\d{4}-)${digits[0]}|(?<=/)\\d{4}([-_.])\\d{2}\\1\\d{2}[t_/ -]\\d{2}([-_.])\\d{2}\\2\\d{2}[-_.]\\d{3,9}z?`,
    '(?<=\\(x)\\d{1,9} over (?:\\d{1,4}[dhms]){1,2}(?=\\))',
    `\\b(?=[acdefghjlmnoprstuwx])(?:${words.join('|')})`,
    // (node:123), sshd[123]:, [ 12345.678901], [pool-1-thread-3]; com.acme.Pool@1b2c3d4e
    '\\(node:\\d{1,9}\\)|(?<=[a-z])\\[\\d{1,9}\\](?=:)|(?<=^|\\n)\\[ *\\d{1,9}\\.\\d{6}\\](?= )|(?<=\\[[\\w.-]{0,60}(?:exec|thread|worker)-)\\d{1,6}(?=\\])',
    '(?<=[a-z]\\.[a-z_$][\\w$]{0,80})@[\\da-f]{5,8}(?![\\w.-])',
    // tmp.Xk3fQ9aBcD of mktemp, /tmp/tmpa1b2c3d4 of Python
    '(?<=/)tmp\\.[a-z\\d]{10}(?![\\w-])|(?<=/tmp/)tmp[a-z\\d_]{8}(?![\\w-])',
  ].join('|'),
  'gi',
);

/** What a terminal has overwritten: of a line that was drawn again and again the last one is seen. */
const overwritten = /(?<=^|\n)[^\n]*\r(?=[^\r\n])/g;

/**
 * An answer without what changes by itself: moments, durations, ids of processes and requests, attempts, colours and white space, never another number (item 1 and
 * item 2 are other work). Where nothing is left, as it was.
 */
export function withoutVolatile(text: string): string {
  const even = evenText(text);
  return /[\p{L}\p{N}]/u.test(even) ? even : text;
}

/** The same, also where nothing is left; `~` stands for each thing that was taken out. */
export function evenText(text: string): string {
  const plain = (text.includes('\u001b') ? withoutEscapes(text) : text).replace(overwritten, '');
  const bare = /\d|\/tmp/.test(plain) ? plain.replace(volatile, '~') : plain;
  return bare.replace(/\s+/g, ' ').trim();
}
