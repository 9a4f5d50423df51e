import { spokenPhrases } from './httpPhrases.ts';

/**
 * Forms in which SDKs, HTTP clients and systems write that a request was refused, as whole lines: nothing before them but the name of an error,
 * nothing behind them but the answer, where it was, and advice.
 */
const address = String.raw`(?:\[?[\w.:%-]+\]?|/\S+)`;
const url = String.raw`["'(]*https?://\S+`;

/** Names of errors and of the programs that say them, before the rest. */
const names = new RegExp(
  String.raw`^(?:${[
    String.raw`\[?api error: ?`,
    String.raw`mcp error -?\d{1,6}: `,
    String.raw`(?:fatal|error): `,
    String.raw`(?:uncaught|unhandled) `,
    String.raw`(?:[a-z_]\w{0,40}\.){0,6}[a-z]\w{0,60}(?:error|exception|fault|exhausted|unavailable|toomanyrequests|ratelimited)(?: \[\w+\])?: `,
    String.raw`curl: \(\d{1,3}\) `,
    String.raw`fetch failed: `,
    String.raw`(?:npm|pnpm|yarn) error `,
    String.raw`error sending request for url \(\S+\): (?:client error \(connect\): )?`,
    String.raw`request to \S+ failed, reason: `,
    String.raw`(?:get|post|put|patch|delete|head) "[^"]{1,300}": `,
    String.raw`failed after \d+ attempts?\. last error: `,
    String.raw`error code: (?=\d{3} - )`,
  ].join('|')})`,
  'i',
);

/** Stand before a status. */
const leads = [
  'request failed with status(?: code)?:?',
  'request failed:',
  'response (?:status )?code:?',
  'http error[!:]?(?: status(?: code)?:?)?',
  String.raw`https?(?:/\d(?:\.\d)?)?(?: error| status(?: code)?)?:?`,
  String.raw`http status (?:client|server) error`,
  'status code:?',
  'unexpected (?:response )?status(?: code)?:?',
  'unexpected server response:?',
  'unexpected response:?',
  '(?:server|upstream|api) (?:responded|answered|returned)(?: with)?(?: status| code| http| error)*:?',
  'responded with(?: status(?: code)?)?:?',
  'exceeded retry limit, last status:',
  'repeated',
  'request rejected',
  'the requested url returned error:',
  'api error:?',
].join('|');

const phrase = `(?:${spokenPhrases.join('|')}|overloaded(?: errors?)?|rate limited|rate limit (?:exceeded|reached))`;
const status = new RegExp(
  String.raw`^(?:(?:${leads}) ?["'(]?(?<led>[45]\d\d)["')]?(?:[ :,–—-]{1,3}\(?["']?${phrase}["']?\)?)?|\(?(?<bare>[45]\d\d)(?:[ :,–—-]{1,3}\(?["']?${phrase}["']?\)?|(?= ?[-–—]? ?["']?\{)| status code(?= \(no body\))))(?!\w)`,
  'i',
);

/** Refusals that are said without a status. */
const sayings = [
  // Node, and what is built upon it.
  String.raw`(?:connect )?(?:econnrefused|enetunreach|ehostunreach|ehostdown|enetdown|etimedout(?<=connect etimedout)) ${address}(?: - local \([^)\n]{0,80}\))?`,
  String.raw`(?:getaddrinfo|query\w*) (?:enotfound|eai_again) ${address}`,
  String.raw`connect timeout error(?: \([^)\n]{0,200}\))?`,
  String.raw`spawn \S{1,200} (?:eagain|emfile|enfile|enomem)`,
  // Go, Rust, Python, curl.
  String.raw`dial (?:tcp|unix|udp) ${address}: (?:connect: )?(?:connection refused|no route to host|network is unreachable|i/o timeout)`,
  String.raw`dial tcp: lookup ${address}(?: on ${address})?: (?:no such host|server misbehaving)`,
  String.raw`(?:tcp connect error: )?connection refused(?: \(os error \d+\))?`,
  String.raw`(?:dns error: )?failed to lookup address information: [\w ]{1,60}`,
  String.raw`\[(?:win)?errno -?\d+\] (?:connection refused|name or service not known|no route to host|network is unreachable|temporary failure in name resolution|nodename nor servname provided, or not known)`,
  String.raw`all connection attempts failed`,
  String.raw`failed to connect to \S+ port \d+(?: after \d+ ms)?: (?:could ?n['o]t connect to server|could not connect to server|connection refused)`,
  String.raw`could not resolve (?:host|proxy): \S+`,
  String.raw`stream closed with error code nghttp2_refused_stream|(?:http2: )?stream error: stream id \d+; refused_stream`,
  String.raw`timeout exceeded when trying to connect|connection terminated due to connection timeout`,
  // Of providers.
  String.raw`request rate is (?:too )?large`,
  String.raw`(?:sorry, )?too many (?:requests|clients already|connections)`,
  String.raw`rate[ _-]?limit(?:ed|s)?(?:[ _-](?:error|exceeded|reached|hit))?(?: for [\w.:/-]+)?(?: in (?:organization|project) [\w-]+)?(?: on [\w ]{0,40}\w(?: \(\w+\))?)?`,
  String.raw`you(?: are|['’]re) being rate[ -]limited`,
  String.raw`request rate limit exceeded`,
  String.raw`overloaded(?:_error)?`,
  String.raw`(?:the |this |that )?(?:selected )?(?:service|server|model|engine|system|api|backend)(?: is)?(?: currently| temporarily| too| very)*(?: overloaded| busy| unavailable| at capacity)(?: with other requests)?`,
  String.raw`service unavailable`,
  String.raw`(?:sqlite_busy: )?database is locked|deadlock detected`,
  // Money and long limits.
  String.raw`(?:your )?credit balance is too low(?: to access [\w ]{1,40})?`,
  String.raw`insufficient_quota|insufficient quota|quota exceeded`,
  String.raw`you exceeded your current quota(?:, please check your plan and billing details)?`,
  String.raw`you['’]?(?:ve| have) (?:hit|reached) your (?:[\w-]+ ){0,3}limit`,
  String.raw`claude(?: ai)? usage limit reached(?:\|\d+)?`,
  String.raw`(?:[\w-]+ ){0,2}(?:hour|daily|weekly|monthly|usage|session) limit reached`,
].map((each) => new RegExp(`^(?:${each})(?![\\w/])`, 'i'));

/** What may stand behind, until nothing is left: an answer, where it was, an id, advice. */
const behind = [
  /^\s*(?:[-–—:,]\s*)?["']?[{[].{0,8000}[}\]]["']?$/s,
  /^\s*\(no body\)/i,
  new RegExp(
    String.raw`^[\s:,;(]*(?:(?:for|from|url:|at|get|post|put|patch|delete|head|with) )*(?:url:? ?)?\(?${url}`,
    'i',
  ),
  /^[\s:,;.(·-]*(?:request[ _-]?id|req(?:uest)?|cf-ray|trace[ _-]?id|organization|code|type|status)[:=]? ?["']?(?=[\w-]*[\d_])[\w.:-]{3,80}["']?\)?/i,
  /^[\s:,;.|·∙(–—-]*(?:please |kindly )?(?:(?:try|retry|retrying)(?: again)?|wait|reset(?:s|ting)?|will reset|visit|see|slow down|reduce your|back off|(?:limit|used|requested|current|max(?:imum)?):? \d+|upgrade|check (?:your plan|status)|contact (?:us|support|sales)|go to|learn more|read more|for more|to learn more|more info\w*|this is a server-side|usually temporary|if (?:the|this) (?:error|problem|issue) persists|your limit (?:will )?resets?|retry[- _]after|(?:the )?(?:api|service|server|model) is (?:currently |temporarily )?(?:at capacity|overloaded|unavailable|busy)|overloaded|service unavailable|too many requests|rate limit(?:ed| exceeded| reached)?|slow_down|errors?)\b(?:(?!\b(?:but|after|because|while|however|was|were|had|has|been|booked|sent|paid|charged|done|saved|created|stored|placed|though|already)\b)[^.;·∙|\n]|\.(?=\S)){0,200}/i,
  /^[\s.;,:!)\]}'"·|]+/,
];
/** Says nothing of its own. */
const wrappers =
  /^(?:fetch failed|failed to fetch|request failed|network error|error|undefined|connection terminated unexpectedly)[.!:]?$/i;
const longest = 9000;

/** Whether a text is a refusal as a whole: of each of its lines, what an SDK, a client or a system writes of a request that was not carried out. */
export function isRefusal(text: string): boolean {
  if (text.length > longest) return false;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const telling = lines.filter((line) => !wrappers.test(line.trim()));
  return telling.length > 0 && telling.every((line) => isRefusalLine(line.trim()));
}

function isRefusalLine(line: string): boolean {
  let rest = line;
  for (let count = 0; count < 4; count += 1) {
    const after = afterRefusal(rest);
    if (after !== undefined && endsWell(after)) return true;
    const name = names.exec(rest)?.[0];
    if (name === undefined || name === '') return false;
    rest = rest.slice(name.length);
  }
  return false;
}

/** What follows a refusal at the beginning of a line; undefined where it begins with none. */
function afterRefusal(line: string): string | undefined {
  for (const pattern of [status, ...sayings]) {
    const found = pattern.exec(line);
    if (found !== null) return line.slice(found[0].length);
  }
  return undefined;
}

function endsWell(after: string): boolean {
  let rest = after;
  for (let count = 0; count < 20 && rest !== ''; count += 1) {
    const piece = behind.map((each) => each.exec(rest)?.[0] ?? '').find((each) => each !== '');
    if (piece === undefined) return false;
    rest = rest.slice(piece.length);
  }
  return rest === '';
}
