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

/** Phrases that prove something beside a number alone: clients say them of limits of their own. */
const besideNumber = ['request timeout', 'bandwidth limit exceeded', 'overloaded'];

const all: typeof telling = [...telling, ...everyday];
const statuses = new Map(all.flatMap(([status, ...phrases]) => phrases.map((each) => [each.toLowerCase(), status])));
const spoken = [...statuses.keys(), ...besideNumber].join('|');

/** `HTTP 503`, `API Error: 503`, `status code 503`, `"statusCode":503`, `Error code: 401`, `responded with 404`. */
const prefix = String.raw`\b(?:https?(?:/\d(?:\.\d)?)?|status(?:[ _-]?code)?|error(?:[ _-]code)?|responded with)["']?[:=]? ?["'(]?`;
/** `403 Forbidden`, `401 (Unauthorized)`, `404: not found`, `503 status code (no body)`, `401 {"type":"error"`. */
const suffix = String.raw`\)?[:,]? ?[-–—]? ?["'(]?(?:${spoken})\b| status code\b| \{"`;

/**
 * Finds one of these HTTP statuses, named `status`; a bare number proves nothing.
 * @param codes - a regular expression of three digits.
 */
export function statusNumber(codes: string): RegExp {
  return new RegExp(String.raw`(?<![\w.])(?<status>${codes})\b(?:(?<=${prefix}\d{3})|(?=${suffix}))`, 'i');
}

/** Finds the reason phrases of these statuses, named `phrase`. */
export function reasonPhrases(codes: string): readonly RegExp[] {
  const wanted = new RegExp(`^(?:${codes})$`);
  const among = (rows: typeof telling): string => {
    const phrases = rows.flatMap(([status, ...each]) => (wanted.test(String(status)) ? each : []));
    return `(?<phrase>${phrases.join('|') || '(?!)'})`;
  };
  return [
    new RegExp(String.raw`\b${among(telling)}\b`, 'i'),
    new RegExp(`^(?:error: )?${among(everyday)}[.!]?$`, 'im'),
    new RegExp(`(?:^|: )${among(everyday)}(?=[.:!)]|$)`, 'm'),
  ];
}

/** The status that a reason phrase stands for. */
export function statusOfPhrase(phrase: string): number | undefined {
  return statuses.get(phrase.toLowerCase());
}
