/**
 * Reason phrases of HTTP that prove their status wherever they stand: nobody says them of anything else (RFC 9110, and the older names of
 * RFC 2616 and RFC 4918 that servers still send).
 */
const telling: readonly (readonly [status: number, ...phrases: string[]])[] = [
  [400, 'bad request'],
  [401, 'unauthorized'],
  [402, 'payment required'],
  [405, 'method not allowed'],
  [407, 'proxy authentication required'],
  [411, 'length required'],
  [413, 'payload too large', 'content too large', 'request entity too large'],
  [414, 'uri too long', 'request-uri too long'],
  [415, 'unsupported media type'],
  [416, 'range not satisfiable', 'requested range not satisfiable'],
  [421, 'misdirected request'],
  [422, 'unprocessable entity', 'unprocessable content'],
  [426, 'upgrade required'],
  [428, 'precondition required'],
  [429, 'too many requests'],
  [431, 'request header fields too large'],
  [451, 'unavailable for legal reasons'],
  [500, 'internal server error'],
  [502, 'bad gateway'],
  [503, 'service unavailable'],
  [504, 'gateway timeout', 'gateway time-out'],
  [505, 'http version not supported'],
  [506, 'variant also negotiates'],
  [511, 'network authentication required'],
];

/** Phrases that are everyday words as well; they prove their status only as a whole line, or in HTTP's capitals as the end of one. */
const everyday: readonly (readonly [status: number, ...phrases: string[]])[] = [
  [403, 'Forbidden'],
  [404, 'Not Found'],
  [406, 'Not Acceptable'],
  [409, 'Conflict'],
  [410, 'Gone'],
  [412, 'Precondition Failed'],
  [417, 'Expectation Failed'],
  [418, "I'm a Teapot"],
  [423, 'Locked'],
  [424, 'Failed Dependency'],
  [425, 'Too Early'],
  [501, 'Not Implemented'],
  [507, 'Insufficient Storage'],
  [508, 'Loop Detected'],
  [510, 'Not Extended'],
];

/** Phrases that prove something beside their number alone: clients say them of limits of their own. */
const besideNumber: readonly (readonly [numbers: string, phrase: string])[] = [
  ['408|504|52[24]', 'request timeout'],
  ['509', 'bandwidth limit exceeded'],
  ['429|500|503|529', 'overloaded'],
];

const all: typeof telling = [...telling, ...everyday];
const statuses = new Map(all.flatMap(([status, ...phrases]) => phrases.map((each) => [each.toLowerCase(), status])));
const fiveHundreds: ReadonlySet<number> = new Set([500, 502, 503, 504]);
/** All of them, as they are matched. */
export const spokenPhrases: readonly string[] = [
  ...all.flatMap(([, ...phrases]) => phrases),
  ...besideNumber.map(([, phrase]) => phrase),
];
/** A number and its own phrase; servers mix up those of 5xx. `user 503 not found` is none. */
const pairs = [
  ...all.map(
    ([status, ...phrases]) => [fiveHundreds.has(status) ? '5\\d\\d' : String(status), phrases.join('|')] as const,
  ),
  ...besideNumber,
];
const beside = String.raw`\)?[:,]? ?[-–—]? ?["'(]?`;
const paired = pairs.map(([numbers, phrase]) => `(?:${numbers})${beside}(?:${phrase})\\b`).join('|');
/** `HTTP 503`, `API Error: 503`, `status code 503`, `"statusCode":503`, `Error code: 401`, `responded with 404`. */
const prefix = String.raw`\b(?:https?(?:/\d(?:\.\d)?)?|status(?:[ _-]?code)?|api error|error[ _-]code|responded with|unexpected server response|returned (?:an )?error)["']?[:=]? ?["'(]?`;
/** Words that follow a number that is counted, or spoken of: `status 503 is no member`, `responded with 503 rows`. */
const counted = String.raw`(?![\w]|[.-]\w| (?:is|are|expected|of|in|not (?!found\b|acceptable\b|implemented\b|extended\b)|(?!was\b|status\b)\w+s\b(?! unavailable)))`;
/** `error 503`, with nothing after it but what tells of an answer: `error: 429 tests failed` is none. */
const weak = String.raw`\berror:? ?["'(]?`;
const ended = String.raw`["')]?(?:[.!,;]?$|[,;:] | - |: ?[{[]| (?:from|while|when|by) )`;

/** `403 Key limit exceeded`, `ServiceUnavailable: 503 busy`: an SDK's message, or an error of a class, begins with it. `500 Files copied` is none. */
const first = String.raw`(?:^|(?<!\w)(?=\w{0,60}?[a-z][A-Z])\w{2,80}: |\[)`;
const sentence = String.raw`(?: (?=["'{]|[A-Z]|[a-z]+: |(?<=\w: \d{3} )[a-z])(?!\w+s (?:\w+ed|found|ok|done|sent|read)\b))`;
const number = '[45]\\d\\d';
/** Nouns before a number that is theirs: `line 503 bad gateway name`. */
const noun =
  '(?<!\\b(?:lines?|rows?|orders?|users?|rooms?|ports?|items?|ids?|no\\.|numbers?|flights?|invoices?|tickets?|products?|pages?|steps?|skus?|customers?|cases?|tests?|tags?|articles?|records?|messages?|jobs?|charged|sent|booked|title|named|called) )';

/** Numbers that prove themselves to be a status by what stands beside them; a bare number proves nothing. */
const alone = String.raw`(?<![\w.#$€/\\-])`;
const numbers = [
  new RegExp(String.raw`${alone}(?<status>${number})\b(?<=${prefix}\d{3})${counted}`, 'i'),
  new RegExp(String.raw`${alone}(?<status>${number})\b(?<=${weak}\d{3})(?=${ended})`, 'im'),
  new RegExp(String.raw`${alone}${noun}(?=${paired})(?<status>${number})`, 'i'),
  new RegExp(String.raw`(?:^|[:([]\s?)(?<status>${number})(?=\)?(?: status code\b| ?[-–—]? ?\{"))`, 'm'),
  new RegExp(String.raw`${first}(?<status>4[0-3]\d|451|50\d|51[01]|52\d|530)\b${sentence}`, 'm'),
  /\brequest rejected \((?<status>429)\)/i,
  /\b(?<status>[45]\d\d) (?:client|server) error:/i,
  /\btoo many (?<status>[45]\d\d) error responses\b/i,
];

const among = (rows: typeof telling): string => `(?<phrase>${rows.flatMap(([, ...phrases]) => phrases).join('|')})`;
const phrases = [
  // Not in the name of a file, nor in an address.
  new RegExp(String.raw`(?<![\w/\\.-])${among(telling)}(?![\w/\\-]|\.\w)`, 'i'),
  new RegExp(`^(?:error: )?${among(everyday)}[.!]?$`, 'im'),
  new RegExp(`(?:^|: )${among(everyday)}(?=[.:!)]|$)`, 'm'),
];

/** The HTTP status of a failure that a text tells, by its number or by its reason phrase; undefined where it tells none. */
export function statusInText(text: string): number | undefined {
  for (const pattern of numbers) {
    const status = pattern.exec(text)?.groups?.['status'];
    if (status !== undefined) return Number(status);
  }
  for (const pattern of phrases) {
    const phrase = pattern.exec(text)?.groups?.['phrase'];
    if (phrase !== undefined) return statuses.get(phrase.toLowerCase());
  }
  return undefined;
}
