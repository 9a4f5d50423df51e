import { redacted, namePart } from './secretNames.ts';

/** `api_key=…`, `"password": "…"`, `\"password\":\"…\"`, `Cookie: …`, up to the value. */
const assigned = new RegExp(`(${namePart})[\\w-]{0,20}(?:\\\\{0,15}["'])?\\s{0,4}(?:=>|[=:]{1,3})\\s{0,4}`, 'gi');
/** Short names are words of other things too: only what assigns or quotes them makes them names. */
const shortAssigned =
  /(?<![A-Za-z0-9])(?:pwd(?:=(?!\/)|(?<=[?&;]pwd)=|\\{0,15}["']\s{0,4}:)|(?:pass|pw|sig|signature|auth|jwt|otp|pin)(?:\s{0,4}=|\\{0,15}["']\s{0,4}:)|(?<=[?&])(?:key|code)=)\s{0,4}/gi;
/** `--password …` on a command line; `--max-tokens 400` is a count. */
const flag = new RegExp(`--[\\w-]{0,40}?(?:${namePart})s?\\s{1,4}(?!-)`, 'gi');
/** `curl -u user:…`, `--user user:…`. */
const userFlag = /((?:^|\s)(?:-u[ \t]{0,4}|--user(?:=|[ \t]{1,4}))["']?[^\s:"']{0,128}:)[^\s"']{1,512}/g;
/** `sshpass -p …`, `mysql -p…` have no name that could be told. */
const sshpass = /(\bsshpass[ \t]{1,4}-p[ \t]{0,4})\S{1,512}/g;

/** Something of these is in every text that a pattern above fits: a look spares most texts the searches. */
const nameTrace = /key|token|authori[sz]|secret|passw|passp|passc|credential|cookie|signature/i;
const assigns = /[=:]|--/;
const shortTrace = /(?:pwd|pass|pw|sig|signature|auth|jwt|otp|pin|[?&]key|[?&]code)(?:\s{0,4}=|\\{0,15}["'])/i;

/** The text without what is assigned to the name of a secret, in it or in JSON in it. Linear in its length. */
export function withoutAssignments(text: string): string {
  let result = text;
  if (text.includes('-u') || text.includes('-p')) {
    result = result.replace(userFlag, `$1${redacted}`).replace(sshpass, `$1${redacted}`);
  }
  if (assigns.test(result) && nameTrace.test(result)) result = withoutValues(withoutValues(result, flag), assigned);
  return /[="']/.test(result) && shortTrace.test(result) ? withoutValues(result, shortAssigned) : result;
}

/** Values that are no secret, and worth knowing. */
const plainValues = /(?:true|false|null|undefined|none)(?![\w-])|\[redacted\]/iy;
/** `400`, `3M`, `1.5M/day`. */
const digits = /\d{1,12}(?:\.\d{1,9})?[kMG]?(?:\/(?:turn|session|day))?(?![^\s"',;&)}\]])/y;
const counts = /^(?:--[\w-]{0,40}?)?(?:tokens|token[_-]?(?:count|limit|usage|budget))/i;

/** A program that is named like a secret, as its process is: `process:passwd:1`, with the id of its runtime after `@`. */
const ourProcess = /(?:^|[\s"'])process:[\w.-]{1,40}:$/;
const processNumber = /\d{1,9}(?:@\d{1,9})?(?![^\s"',;&)}\]])/y;

/** Quotes of which no end follows: looked for once, so that a text full of them takes no longer. */
type Unclosed = Set<string>;

/** Puts a mark in place of every value that `names` leads up to. */
function withoutValues(text: string, names: RegExp): string {
  const unclosed: Unclosed = new Set();
  let result = '';
  let done = 0;
  names.lastIndex = 0;
  for (let found = names.exec(text); found !== null; found = names.exec(text)) {
    const start = found.index + found[0].length;
    const { from, to } = valueAt(text, start, found[0], unclosed);
    if (to === from) continue;
    result += `${text.slice(done, from)}${redacted}`;
    done = to;
    names.lastIndex = Math.max(to, start);
  }
  return done === 0 ? text : `${result}${text.slice(done)}`;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

const none: Span = { from: 0, to: 0 };
const opening = /\\{0,15}["'`]/y;
const word = /[^\s"',;&)}\]]+/y;
/** A scheme and what follows it, with the parameters of `Digest` and of signatures. */
const credentials =
  /(?:[A-Za-z][\w-]{0,40}[ \t]{1,4}(?=[^\s"',;&)}\]]))?(?:\[redacted\]|[^\s"',;&)}\]]+)(?:"[^"\r\n]*")?(?:,[ \t]{0,4}[\w-]{1,30}=(?:"[^"\r\n]*"|[^\s,"']+))*/y;
const pairs = /[^\s=;,"']{1,256}=[^\s;,"']*(?:;[ \t]{0,4}[^\s=;,"']{1,256}=[^\s;,"']*)*/y;

function valueAt(text: string, start: number, name: string, unclosed: Unclosed): Span {
  if (matchEnd(plainValues, text, start) > start) return none;
  if (matchEnd(digits, text, start) > start && counts.test(name)) return none;
  const isAuthorization = /authori[sz]ation/i.test(name);
  // After a colon and a space an error text may go on in words; what is assigned is a value.
  if (/:\s+$/.test(name) && (isAuthorization ? isProseOfCredentials : isProse)(text, start)) return none;
  if (matchEnd(processNumber, text, start) > start && ourProcess.test(text.slice(Math.max(0, start - 60), start)))
    return none;
  const opened = matchEnd(opening, text, start);
  if (opened > start) return { from: opened, to: quoteEnd(text, start, opened, unclosed) };
  const first = text.charAt(start);
  if (first === '{' || first === '[') return { from: start, to: blockEnd(text, start) };
  if (isAuthorization) return { from: start, to: matchEnd(credentials, text, start) };
  if (/^cookie/i.test(name) && !/set-$/i.test(text.slice(Math.max(0, start - name.length - 4), start - name.length))) {
    const end = matchEnd(pairs, text, start);
    if (end > start) return { from: start, to: end };
  }
  return { from: start, to: wordEnd(text, start) };
}

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Without the escape of a quote that follows. */
function wordEnd(text: string, at: number): number {
  let end = matchEnd(word, text, at);
  if (/["']/.test(text.charAt(end))) while (end > at && text.charAt(end - 1) === '\\') end--;
  return end;
}

/**
 * Finds where a quoted value ends: at a quote that is escaped as the opening one was. Deeper escapes belong to the value. A value that was cut off ends with
 * its line.
 */
function quoteEnd(text: string, start: number, opened: number, unclosed: Unclosed): number {
  const quote = text.charAt(opened - 1);
  const depth = opened - 1 - start;
  const kind = `${depth}${quote}`;
  if (unclosed.has(kind)) return lineEnd(text, opened);
  for (let at = text.indexOf(quote, opened); at >= 0; at = text.indexOf(quote, at + 1)) {
    let first = at;
    while (first > opened && text.charAt(first - 1) === '\\') first--;
    const escapes = at - first;
    if (escapes >= depth && (escapes - depth) % (2 * (depth + 1)) === 0) return at - depth;
  }
  unclosed.add(kind);
  return lineEnd(text, opened);
}

/** Finds where a list or an object ends; one that was cut off ends with the text. */
function blockEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1;
  }
  return text.length;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

/**
 * Words that an error text goes on with after the name of a secret: `token: expired at 10:00`, `Password: the field is missing`. A list and
 * no guess by form: what is kept of a text is one of these, so that a secret in lower case stays hidden.
 */
const words =
  'a|an|the|this|that|these|those|it|its|you|your|we|our|they|their|he|she|i|' +
  'is|are|was|were|be|been|being|has|have|had|do|does|did|can|cannot|could|may|might|must|shall|should|will|would|need|needs|' +
  'at|by|for|from|in|into|of|off|on|onto|out|over|since|than|through|to|until|up|via|with|within|without|and|but|or|nor|if|as|' +
  'when|where|which|while|who|why|how|because|after|before|again|already|also|always|both|either|neither|never|not|no|now|only|please|' +
  'still|then|there|too|yet|' +
  'absent|bad|blank|blocked|changed|corrupt|corrupted|denied|deprecated|disabled|duplicate|empty|exceeded|expected|expires|expired|' +
  'failed|failure|forbidden|ignored|incomplete|incorrect|insufficient|invalid|locked|malformed|mismatch|missing|' +
  'outdated|refused|rejected|removed|required|revoked|rotated|short|long|unauthorized|unexpected|unknown|unreadable|unrecognized|unset|' +
  'unsupported|unusable|used|wrong|error|' +
  'access|account|argument|authentication|characters?|connection|content|directory|environment|field|file|format|header|input|issuer|' +
  'length|line|lookup|name|parameter|parsing|path|permission|permissions|property|refresh|request|response|scope|server|session|signature|' +
  'string|user|username|validation|value|variable|verification';

/** Such a word, at the end of it. */
const prose = new RegExp(`(?:${words})(?=[,.;:!?)"'\\]}]{0,2}(?:\\s|$))`, 'iy');
/** A number that more prose follows: `token: 12 used of 10`. */
const counted = new RegExp(`\\d{1,3}[ \\t]{1,4}(?:${words})(?=[,.;:!?)]?(?:\\s|$))`, 'iy');
/** After a scheme stands what it is about; so may it after a word that is none: `authorization: invalid a1b2c3d4`. */
const thenSecret = /[A-Za-z]{1,20}[^\s\w]{0,2}[ \t]{1,4}(?=\d|\S\S{0,200}[^a-z\s,.;:!?()'"])/y;

/** Tells whether the text says something at this place, in words, rather than giving a value. */
function isProse(text: string, at: number): boolean {
  return fits(prose, text, at) || fits(counted, text, at);
}

/** The same after `authorization:`, where the value is of two words. */
function isProseOfCredentials(text: string, at: number): boolean {
  return fits(prose, text, at) && !fits(thenSecret, text, at);
}

function fits(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
