import { spokenPhrases } from './httpPhrases.ts';

/** Pieces of which refusals are made as SDKs, HTTP clients, systems and those that pass them on write them; each is looked for at a beginning. */
const address = String.raw`(?:\[?[\w.:%*-]+\]?|/\S+)`;
const url = String.raw`["'(<]*https?://[^\s"'<>\x60]+["')>]*`;
const at = (source: string): RegExp => new RegExp(`^(?:${source})`, 'i');
const among = (...sources: readonly string[]): string => sources.join('|');

/** Stand before a refusal and say nothing but who speaks, and that a call failed. */
export const wrapper = at(
  among(
    '(?:fatal|error|warn(?:ing)?): +',
    // A number that some refusal must follow.
    String.raw`${address}:\d+: (?=\[errno)`,
    String.raw`\[(?:error|cause|openai|anthropic|gemini|google\w*|mistral|groq|openrouter|bedrock|vertex|azure|ollama|litellm|mcp|llm|agent|googlegenerativeai error)\]:? `,
    String.raw`(?:uncaught|unhandled) (?:\(in promise\) )?`,
    String.raw`(?:[a-z_]\w{0,40}\.){0,6}[a-z]\w{0,60}(?:error|exception|fault|exhausted|unavailable|toomanyrequests|ratelimited|slowdown)(?: \[\w+\])?(?: -|:) `,
    String.raw`npm (?:error|err!) (?:code e429$)?|(?:pnpm|yarn) error `,
    String.raw`error sending request for url \(\S+\): (?:(?:client error \(connect\)|error trying to connect): )?`,
    String.raw`request to \S+ failed, reason: `,
    String.raw`(?:get|post|put|patch|delete|head) (?:"[^"]{1,300}"|${url}|/\S*)(?: failed)?(?::|(?= [45]\d\d)) `,
    String.raw`(?:failed to fetch|error fetching|failed to get)(?: from)?(?: ${url})?:? `,
    String.raw`failed to load resource: (?:the )?`,
    String.raw`(?:failed|giving up) after \d+ attempts?(?:\(s\))?[.:] (?:last error: )?`,
    String.raw`no connection established\. last error: `,
    String.raw`connection error: desc = "(?:transport: )?(?:error while dialing: )?`,
    String.raw`rpc error: code = (?:resourceexhausted|unavailable) desc = `,
    String.raw`unable to access ['"]${url}:? `,
    String.raw`<?urlopen error `,
    String.raw`https?connectionpool\([^)\n]{1,200}\): max retries exceeded with url: \S+ \(caused by `,
    String.raw`failed to connect to \x60[^\x60\n]{1,200}\x60: dial error \(`,
    String.raw`\x60(?:get|post|put|patch|delete|head) ${url}\x60 resulted in a `,
    String.raw`error response from daemon: |an (?:api )?error occurred: |(?:streamable http error: )?(?:error posting to endpoint|failed to open sse stream): |got status: (?=unavailable|resource_exhausted)|(?:unavailable|resource_exhausted)\. (?={)`,
    String.raw`(?:error (?:executing|calling|running|invoking)|failed to (?:call|execute|run|invoke)) (?:mcp )?tool(?: ["'\x60]?[\w.:/-]{1,80}["'\x60]?)?: `,
    String.raw`tool ["'\x60]?[\w.:/-]{1,80}["'\x60]? failed: `,
    String.raw`operation error [\w ]{1,40}: \w{1,60}, (?:exceeded maximum number of attempts, \d+, )?`,
  ),
);

/** Stand before a status. */
const leads = among(
  String.raw`(?:the |api |http )?request (?:to ${url} )?failed with(?: http)?(?: status)?(?: code)?:?`,
  String.raw`https?(?:/\d(?:\.\d)?)?(?: error| status(?: code)?)?:?`,
  String.raw`https response error status ?code:`,
  String.raw`(?:bad|non-?(?:200|2xx|ok)) (?:response|status)(?: code)?:? ?\(?`,
  '(?:received|got)(?: an?| error)?(?: http)?(?: status| response)?(?: code)?:?',
  '(?:the )?(?:server|upstream|api|provider) (?:responded|answered|returned)(?: with)?(?: an?)?(?: status| code| http| error| of)*:?',
  'api error occurred: status',
  String.raw`upstream error:?|exceeded retry limit, last status:|repeated|request rejected|the requested url returned error:|api error:?`,
  String.raw`an error occurred \(`,
);

const phrase = `(?:overloaded(?:_error| errors?)?|rate limited|service temporarily unavailable|${spokenPhrases.join('|')})`;
const beside = String.raw`(?:(?: (?:client|server) error:?)?[ :,–—-]{1,3}(?:message=)?\(?["']?${phrase}["']?\)?)`;
/** A status with what proves it: words before it, a phrase or JSON behind it, or sayings. */
const statusPiece = at(
  String.raw`(?:(?:${leads}) ?["'(]?[45]\d\d["')]?${beside}?|[([]?[45]\d\d(?:${beside}|(?= ?[-–—]? ?["']?\{)| status code(?= \(no body\))))(?!\w)`,
);

/** Refusals that are said without a status. */
const sayings = [
  // Node, and what is built upon it.
  String.raw`(?:connect )?(?:econnrefused|enetunreach|ehostunreach|ehostdown|enetdown|etimedout(?<=connect etimedout)) ${address}(?: - local \([^)\n]{0,80}\))?`,
  String.raw`(?:getaddrinfo|query\w*) (?:enotfound|eai_again) ${address}`,
  String.raw`connect timeout error(?: \([^)\n]{0,200}\))?`,
  String.raw`aggregateerror \[econnrefused\]:?`,
  String.raw`unable to connect to api \(\w{0,4}connection_?refused\)|unable to connect to api \(econnrefused\)`,
  String.raw`java\.net\.(?:unknownhostexception: [\w.-]+|connectexception: connection refused)|failed to open tcp connection to \S+ \(connection refused - connect\(2\) for \S+ port \d+\)`,
  String.raw`spawn \S{1,200} (?:eagain|emfile|enfile|enomem)`,
  String.raw`name resolution failed for target \S+`,
  // Go, Rust, Python, curl.
  String.raw`dial (?:tcp|unix|udp) ${address}: (?:connect: )?(?:connection refused|no route to host|network is unreachable|i/o timeout)`,
  String.raw`dial tcp: lookup \S+?(?: on \S+?)?: (?:no such host|server misbehaving)`,
  String.raw`(?:ssh: )?(?:connect to host \S+ port \d+|tcp connect error): connection refused(?: \(os error \d+\))?|connection refused(?: \(os error \d+\))?`,
  String.raw`(?:dns error: )?failed to lookup address information: [\w ]{1,60}`,
  String.raw`\[(?:win)?errno -?\d+\] (?:connection refused|name or service not known|no route to host|network is unreachable|temporary failure in name resolution|nodename nor servname provided, or not known)`,
  String.raw`(?:newconnectionerror|nameresolutionerror)\(["']?<?[\w.]+(?:\([^)\n]{1,120}\)|[^:>\n]{1,120}>): (?:failed to establish a new connection: \[errno -?\d+\] [\w ]{1,60}|failed to resolve '[^'\n]{1,120}' \(\[errno -?\d+\] [\w ]{1,60}\))`,
  String.raw`connecttimeouterror\(<[^>\n]{1,120}>, 'connection to \S+ timed out\. \(connect timeout=[\d.]+\)'`,
  String.raw`cannot connect to host \S+ ssl:\S+ \[[^\]\n]{1,120}\]`,
  String.raw`error 111 connecting to \S+?\. connection refused`,
  String.raw`all connection attempts failed|can't connect to mysql server on '[^'\n]{1,120}' \((?:111|113|101)\)`,
  String.raw`status: unavailable, message: "tcp connect error"`,
  String.raw`failed to connect to \S+ port \d+(?: after \d+ ms)?: (?:could ?n['o]t connect to server|could not connect to server|connection refused|timeout was reached)`,
  String.raw`(?:could not|unable to) resolve (?:host address|host(?:name)?|proxy):? \S+(?: name or service not known)?`,
  String.raw`the connection to the server \S+ was refused`,
  String.raw`stream closed with error code nghttp2_refused_stream|(?:http2: )?stream error: stream id \d+; refused_stream`,
  String.raw`timeout exceeded when trying to connect|connection terminated due to connection timeout`,
  String.raw`remaining connection slots are reserved for [\w ]{1,80}`,
  // Words of providers.
  String.raw`(?:request )?rate (?:is (?:too )?large|exceeded)`,
  String.raw`(?:sorry, )?too many (?:requests|clients already|connections)`,
  String.raw`(?:(?:the |your |[\w-]{1,30} )?(?:api|requests?) )?rate[ _-]?limit(?:ed|s)?(?:[ _-](?:error|exceeded|reached|hit))?(?: for (?:(?:user|installation) id )?[\w.:/-]*[\w/-])?(?:: [\w-]+-per-(?:min|day))?(?: in (?:organization|project) [\w-]+)?(?: on [\w ]{0,40}\w(?: \(\w+\))?)?`,
  String.raw`(?:sorry, )?(?:you|your request)(?: are|['’]re| have| has| was|['’]ve)(?: been| being)* (?:rate[ -]?limited|throttled)`,
  String.raw`you(?: have|['’]ve)? (?:exceeded|reached|hit) (?:your|a|the) (?:secondary |pull |api |request )*rate limit(?: and have been temporarily blocked from content creation)?`,
  String.raw`(?:this )?request (?:was|would be) (?:throttled|rate[ -]limited)|this request would exceed your (?:organization|account)['’]s rate limit`,
  String.raw`resource has been exhausted \(e\.g\. check quota\)|resource_exhausted\b`,
  String.raw`(?:the )?user(?: has exceeded the)? rate limit(?: exceeded)?|requests? rate limit exceeded|toomanyrequests:`,
  String.raw`an error occurred \((?:throttling\w*|slowdown|toomanyrequests\w*|requestlimitexceeded|provisionedthroughput\w*|serviceunavailable\w*)\)`,
  String.raw`(?:please )?reduce your request rate`,
  String.raw`the level of configured provisioned throughput for the table was exceeded`,
  String.raw`overloaded(?:_error| errors?)?`,
  String.raw`(?:the |this |that )?(?:selected )?(?:service|server|model|engine|system|api|backend)(?: is)?(?: currently| temporarily| too| very)*(?: overloaded| busy| unavailable| at capacity)(?: with other requests)?(?: or not ready yet)?`,
  String.raw`service unavailable|server is temporarily limiting requests(?: \(not your usage limit\))?`,
  String.raw`we['’]re currently experiencing high demand`,
  String.raw`(?:sqlite_busy: )?database is locked|deadlock detected`,
  // Money and long limits.
  String.raw`(?:your )?credit balance is too low(?: to access [\w ]{1,40})?`,
  String.raw`insufficient_quota|insufficient quota|quota exceeded(?: for (?:quota metric )?(?:'[^'\n]{1,100}'|[\w./:-]*\w))?(?: (?:and limit|of service|for consumer) '[^'\n]{1,100}')*`,
  String.raw`you exceeded your current quota(?:, please check your plan and billing details)?`,
  String.raw`you['’]?(?:ve| have) (?:hit|reached) your (?:[\w-]+ ){0,3}limit`,
  String.raw`claude(?: ai)? usage limit reached(?:\|\d+)?`,
  String.raw`(?:[\w-]+ ){0,2}(?:\d-hour|hour|daily|weekly|monthly|usage|session) limit reached`,
].map((each) => at(String.raw`(?:${each})(?![\w/])`));

export const refusals: readonly RegExp[] = [statusPiece, ...sayings];

/** Advice may go on as it likes to the end of its sentence, as long as it tells of nothing that took place. */
const advice = among(
  '(?:you can )?(?:try|retry(?:ing)?)(?: again| your request| later| after)?',
  'wait|will reset|reset(?:s|ting)?|visit|see|slow down|reduce your|back off',
  String.raw`(?:limit|used|requested|current|max(?:imum)?):? \d+`,
  'upgrade|check (?:your plan|status|out the)|(?:or )?contact (?:us|support|sales)|consider increasing|go to|learn more|read more|to learn more',
  String.raw`(?:but )?(?:here's the good news|authenticated requests)|(?:for )?more info\w*|for details`,
  'this is a server-side|this may be a temporary|usually temporary|if (?:the|this) (?:error|problem|issue) persists|which may cause temporary errors',
  'your limit (?:will )?resets?|retry[- _]after|if you reach out to|expected available in|you may increase the limit|to get more access',
  String.raw`is the (?:server running|docker daemon running)|did you specify the right|sorry about that|slow_down`,
);

/** Pieces that may stand behind, until nothing is left: an answer, where it was, an id, advice. */
export const behind: readonly RegExp[] = [
  /^\s*(?:[-–—:,]\s*)?(?:some\(\\?)?["']?[{[].{0,8000}[}\]]["']?\)?$/is,
  /^\s*\(no body\)/i,
  at(
    String.raw`[\s:,;(]*(?:(?:for|from|url:|at|get|post|put|patch|delete|head|with|-) )*(?:url[:=]? ?(?:\(?url\()?)?\(?${url}\)?`,
  ),
  /^\s*(?:from|by) (?:the )?(?:server|upstream|api|provider)\b/i,
  /^\)? when calling the \w{1,80} operation(?: \(reached max retries: \d+\))?/i,
  /^[\s:,;.(·-]*(?:request[ _-]?id|host[ _-]?id)[:=] ?["']?[\w.+/=-]{1,100}["']?\)?/i,
  /^[\s:,;.(·-]*(?:request[ _-]?id|req(?:uest)?|cf-ray|trace[ _-]?id|organization|code|type|status)[:=]? ?["']?(?=[\w-]*[\d_])[\w.:-]{3,80}["']?\)?/i,
  /^, details: \[\], metadata: .{0,300}$/i,
  /^[\s,]*api error (?=\w)/i,
  /^ \(configured timeouts: [^)\n]{0,120}\)(?:, timeout: \d+s)?|^ \(\d{4}-\d\d-\d\dT[\d:.]+Z\)\. resolution note:|^ resolution note:|^ \(attempt \d+\/\d+\)|^ \[rate reset in [\dhms]+\]/i,
  at(
    String.raw`[\s:,;.|·∙(–—-]*(?:please |kindly )?(?:${advice})\b(?:(?!\b(?:but|after|because|while|however|was|were|had|has|been|though|already)\b)[^.;·∙|\n]|\.(?=\S)){0,200}`,
  ),
  /^[\s.;,:!)\]}'">·|…?-]+/,
];

/** Lines that say nothing of their own. */
export const empty =
  /^(?:(?:typeerror: )?fetch failed(?: \{)?|failed to fetch|request failed|network error|error|undefined|connection terminated unexpectedly|nginx(?:\/[\d.]+)?|npm err(?:!|or) code e\d{3}|traceback \(most recent call last\):)[.!:]?$/i;

/** Something took place beside what was refused, or a part of it did. */
export const deed =
  /(?<!(?:attempt|retry|try) )\b\d+ of \d+\b|\b(?:the rest|the remaining|remaining \d+|(?:first|last) \d+ \w+)\b|\b(?:rows?|items?|records?|batch(?:es)?|chunks?|parts?|steps?) \d|(?<!\b(?:not|n['’]t|never|no|be|to be|been|not been|not be|could not|cannot be) )\b(?:booked|sent|paid|charged|refunded|captured|saved|created|stored|placed|posted|published|inserted|deployed|transferred|shipped|delivered|submitted|committed|imported|uploaded|deleted|removed|merged|succeeded|partially|(?<!clients )already|done|though)\b(?! (?:yet|for roles))/i;

/** Words of failures, requests, limits and connections that nobody got. None tells of a connection that stood, of a part, or of what a call is about: a text of them alone tells of nothing else. */
const vocabulary = [
  "the a an this that these your you you're you've we we're it its i of for to from on at in with by as and or not no non do does did is are was were be been being has have had can could can't cannot couldn't would may will should because please sorry any",
  'error errors failed failure fail fails exception fatal warning rejected refused denied limited throttled throttling unavailable unreachable overloaded busy down full capacity available currently temporarily temporary too very many much high heavy demand load traffic concurrent concurrency',
  'rate-limit rate-limited ratelimit ratelimited rate limit limits limiting quota usage exceeded exceeding exceed exceeds reached hit exhausted throughput',
  'request requests call calls execution response responses reply status code reason phrase reasonphrase statuscode returned returns answered invalid bad unexpected unknown provided',
  'http https tcp api apis rpc grpc mcp sse streamable graphql llm ai model models provider providers agent tool server servers service services upstream backend gateway engine client clients remote host hostname network endpoint url port proxy target machine system token tokens',
  'connection connections connect connecting connected open establish actively resolve resolving resolution lookup dns fetch fetching post posting get got put patch',
  'try trying again later retry retrying retries retried attempt attempts wait waiting moment moments few some minute minutes min second seconds sec hour hours day days per max maximum last internal caused cause ready inference',
  'openai anthropic claude gemini google googleapis azure bedrock vertex mistral groq openrouter ollama litellm github gitlab slack discord telegram twilio jira linear notion stripe brave cloudflare docker redis postgres mysql mongodb curl wget ssh git',
].flatMap((each) => each.split(' '));

/** A word that tells of nothing that took place, a number, or the name of an error. */
export const wordPieces: readonly RegExp[] = [
  at(
    String.raw`(?:before (?:re)?trying|before reply|does not indicate success|so no changes were made|no connection could be made|resulted in an?|retry[- _]after)\b`,
  ),
  at(String.raw`(?:${[...new Set(vocabulary)].join('|')})(?![\w'’/-]|\.\w)`),
  at(String.raw`\d+\/\d+(?![\w/-])|\d[\d.,]*(?:ms|s|m|h)?(?![\w/-])`),
  at(
    String.raw`(?:[a-z]\w{0,40}\.){0,6}\w{1,60}(?:error|exception|fault)(?:\[\d+\])?(?![\w/-]|\.\w)|\w{0,40}(?:rate_?limit|throttl|overload|too_?many_?requests|slow_?down)\w{0,40}(?![\w/-]|\.\w)`,
  ),
  /^[⚠❌✗✖×!•*>]️?\s/,
  /^[\s.,:;!?()[\]{}<>'"`|=·∙…–—-]+/,
];
