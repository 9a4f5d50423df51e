import { codeText } from './databaseCodes.ts';
import { nameMeaning } from './errorNames.ts';
import { grpcText } from './grpcStatus.ts';
import { statusInText } from './httpPhrases.ts';
import { statusMeaning } from './httpStatus.ts';
import { overloadTexts, payerText, quotaTexts, rateTexts } from './limitTexts.ts';
import { brokenTexts, systemTexts, timeoutTexts, unreachedTexts } from './networkTexts.ts';
import { sharpenedByWords } from './sharpened.ts';
import { plainSpeech, toldLines } from './plainSpeech.ts';
import { type ErrorText, row } from './textRow.ts';

/** `gateway closed (1012)`, `websocket closed: 1006`, `close code 1001`. */
const closed = (codes: string): RegExp =>
  new RegExp(`\\bclosed?(?: with)? ?(?:code:? ?|: ?|\\()(?<code>${codes})\\b`, 'i');

const permanent = (pattern: RegExp, reason?: ErrorText['reason']): ErrorText =>
  row(pattern, 'permanent', 'failed', reason);
const auth = (pattern: RegExp): ErrorText => row(pattern, 'auth', 'failed');

/**
 * Texts of services, SDKs and command lines, most telling first: an unpaired history and a full context come as plain 400s, an exhausted quota comes as 429
 * like a rate limit. To be matched against error channels only; the output of a model may quote any of these.
 */
const historyTexts: readonly ErrorText[] = Object.freeze([
  permanent(/`?tool_use`? ids were found without `?tool_result`?/i, 'history_unpaired'),
  permanent(/unexpected `?tool_use_id`? found in `?tool_result`?/i, 'history_unpaired'),
  permanent(/message with '?tool_calls'? must be followed by tool messages/i, 'history_unpaired'),
  permanent(/no tool output found for function call/i, 'history_unpaired'),
]);

/** As above, of what a text says by itself. */
const errorTexts: readonly ErrorText[] = Object.freeze([
  permanent(
    /\b(?:prompt|input|conversation|chat history|transcript)(?: \w+){0,2} (?:is |are |was )?too long\b|\bcontext_length_exceeded\b|\bmaximum (?:context|prompt|model) (?:length|size|window)\b/i,
    'context_length',
  ),
  permanent(
    /\b(?:exceed\w*|larger|greater|longer|beyond|overflow\w*|ran out|too (?:long|large|big) for|fit|fill\w*)\b[^.\n]{0,80}?\bcontext (?:length|windows?|size|limit)\b/i,
    'context_length',
  ),
  permanent(
    /\bcontext (?:length|window|size|limit)\b[^.\n]{0,60}?\b(?:exceeded|too small|full|overflow\w*|reached)\b|\bcontext (?:the )?overflow/i,
    'context_length',
  ),
  permanent(
    /\b(?:input|prompt)\b[^.\n]{0,60}?\bexceed\w*\b[^.\n]{0,40}?\btokens?\b|\btoo many input tokens\b|\breduce (?:the length of )?(?:the|your) (?:prompt|messages|input)\b/i,
    'context_length',
  ),
  permanent(
    /\btokens(?! per)\b[^.\n]{0,40}?\bexceed\w*\b[^.\n]{0,20}?\blimit of \d|\btoken count\b[^.\n]{0,30}?\bexceed|\bmust have (?:less|fewer) than \d+ tokens\b|\b`?inputs`? tokens \+ `?max_new_tokens`? must be\b|\bprompt\b[^.\n]{0,40}\blonger than the maximum\b|\bprompt (?:has|contains) \d+ tokens\b[^.\n]{0,60}\b(?:max|only|too)\b/i,
    'context_length',
  ),
  permanent(
    /request too large|image was too large|request_too_large|\b(?:payload|entity|message|body|file|image) (?:is |was )?too (?:large|big)\b/i,
    'message_too_large',
  ),
  permanent(
    /piped stdin input exceeds|exceeds the maximum (?:length of|size)|max_allowed_packet|message larger than max/i,
    'message_too_large',
  ),
  permanent(
    /output token maximum|reason: max_output_tokens|safeguards flagged|content[ _](?:filter|policy|management policy)/i,
  ),

  row(/^(?:mcp error -32000: )?connection closed$/im, 'crash', 'unknown', 'connection_lost'),
  row(/^not connected$/im, 'crash', 'not_started', 'connection_lost'),

  permanent(payerText),
  ...quotaTexts,
  ...overloadTexts,
  row(/selected model is at capacity|experiencing high demand/i, 'overloaded', 'failed'),
  ...rateTexts,

  auth(
    /\bauth(?:entication|orization)?[_ ](?:error|failed|failure|required|denied)\b(?! over)|\bnot logged in\b|\bmust be logged in\b|\bbad credentials\b|\b(?:NOAUTH|WRONGPASS|NOPERM)\b/i,
  ),
  auth(
    /(?:\binvalid|incorrect|missing|\bno|\bwrong|\bexpired)[_ ](?:\w+ )?(?:x-)?(?:api[-_ ]|subscription )?(?:key|token|credentials?|password)\b(?= ?(?:provided|found|·|[.!:;,]|$|["'])| or )|(?:\binvalid|incorrect|missing|\bno)[_ ](?:x-)?api[-_ ]key/i,
  ),
  auth(
    /\b(?:api[-_ ]key|token|credentials?|session|password)\b(?: \w+){0,4} (?:is |was |has |have |are |been )*(?:not valid|invalid|missing|required|expired|revoked|incorrect|rejected|disabled|must be (?:set|given|passed|provided|specified))\b/i,
  ),
  auth(
    /\b(?:sign|log) in again\b|\btokens? (?:could not|cannot|can['’]t) be refreshed\b|\b(?:failed|unable) to refresh (?:\w+ ){0,3}token\b|\b(?:set|setting|provide|export) (?:the |your )?\w*(?:API_KEY|_TOKEN)\b|\b\w*(?:API_KEY|_TOKEN)\b[^.\n]{0,40}?\b(?:must be set|(?:is )?(?:not set|missing|unset|empty|required))\b/i,
  ),
  auth(
    /oauth token (?:revoked|has expired)|permission_error|organization has been disabled|missing environment variable|(?:unable to locate|could not load|no) (?:\w+ )?credentials\b/i,
  ),
  auth(
    /failed to authenticate|\bauthentication (?:credentials|token)\b[^.\n]{0,30}\b(?:invalid|missing|not provided)|could not authenticate|could not read (?:username|password)|login (?:failed|incorrect|required|denied)|\brequested access to the resource is denied\b|\bpull access denied\b/i,
  ),
  auth(
    /\b(?:is |are )?not authori[sz]ed\b|\bunauthenticated\b(?! (?:routes?|users?|requests?|access|paths?|endpoints?)\b)|(?<!EACCES: )\b(?:access|permission) (?:is |was )?denied (?:for user|to user|due to|\(publickey|on resource)|\bpassword authentication failed\b|^access denied\b/im,
  ),
  auth(
    /\b(?:does not|doesn['’]t|do not|don['’]t) have (?:the )?(?:\w+ )?permissions?\b|\bPERMISSION_DENIED\b|\brequires authentication\b/i,
  ),
  auth(closed('1008')),

  permanent(
    /no session found with label|no (?:conversation|thread) (?:found )?with|no rollout found|thread not found/i,
    'not_found',
  ),
  permanent(
    /session id \S+ is already in use|input must be provided either|no prompt provided|cannot be used with root/i,
  ),
  permanent(
    /^error: unknown option|settings file not found|invalid mcp configuration|not inside a trusted directory/im,
  ),
  permanent(
    /not_found_error|issue with the selected model|\bmodel\b[^.\n]{0,60}\b(?:not found|does not exist)\b|\bmodel_not_found\b|\brepository\b[^\n]{0,80}\bnot found\b|\bmanifest unknown\b|\bmanifest for \S+ not found\b/i,
    'not_found',
  ),
  permanent(/\bbad port\b|^unknown scheme$/im),
  permanent(
    /invalid_request_error|^unexpected redirect$|^redirect count exceeded$|\bINVALID_ARGUMENT\b|\binvalid argument\b(?=.*\brequest|$)/im,
  ),
  permanent(
    /\bsyntax error at or near\b|\berror in your sql syntax\b|\bviolates \S+(?: \S+)? constraint\b|\bduplicate (?:key|entry)\b|\b(?:relation|column|table|database) \S+ (?:of \S+ )?does not exist\b|\bno such (?:table|column)\b|\bunknown column\b/i,
  ),
  permanent(
    /\bnear "[^"\n]{0,80}": syntax error\b|\bincorrect syntax near\b|\binvalid (?:object|column) name '|\b(?:unique|not null|foreign key|primary key|check) constraint failed\b|\bSQL compilation error\b|\bsyntax error: failed at position \d|\bno viable alternative at input\b/i,
  ),
  row(/\bdatabase (?:table )?is locked\b/i, 'transient', 'failed'),
  row(closed('1009'), 'permanent', 'failed', 'message_too_large'),

  row(/\bspawn\b.{0,200}?\b(?<code>EAGAIN|EMFILE|ENFILE|ENOMEM)\b/i, 'transient', 'not_started'),
  row(/\bspawn\b.{0,200}?\b(?<code>ENOENT|EACCES|E2BIG|ENOEXEC|ENOTDIR)\b/i, 'spawn', 'not_started'),
  row(
    /\bfork\/exec \S{1,200}: (?:resource temporarily unavailable|cannot allocate memory|too many open files)/i,
    'transient',
    'not_started',
  ),
  row(
    /\bfork\/exec \S{1,200}: (?:no such file|permission denied|argument list too long|exec format error|not a directory)|\[errno (?:7|8)\]|\bargument list too long\b|\bexec format error\b/i,
    'spawn',
    'not_started',
  ),
  row(
    /no such tool available|empty or malformed response|json parse error|\binvalid json\b|\bunexpected token\b[^\n]{0,80}\bjson\b|\bJSONDecodeError\b|\bunexpected end of json\b|(?:server|client) not initialized|\bprotocol version\b[^.\n]{0,20}\b(?:not supported|unsupported|mismatch)|\bunsupported protocol version\b/i,
    'protocol',
    'failed',
  ),
  row(
    /\berror decoding response body: (?:expected|invalid|missing|unknown|trailing|duplicate|EOF while parsing)\b/i,
    'protocol',
    'unknown',
  ),
  // Whoever says so has an answer, which may be that of a request that was carried out.
  row(/\bunexpected content[- ]type\b/i, 'protocol', 'unknown'),
  row(closed('1002|1003|1007'), 'protocol', 'unknown'),

  row(/agent loop died unexpectedly|\bsegmentation fault\b|\bcore dumped\b|\bOOMKilled\b/i, 'crash', 'unknown'),
  row(
    /\b(?:terminated|killed|ended|exited|died)\b[^.\n]{0,20}?\b(?<code>SIG(?:KILL|TERM|SEGV|ABRT|BUS|HUP|QUIT))\b/,
    'crash',
    'unknown',
  ),
  row(closed('1000|1005'), 'crash', 'unknown', 'connection_closed'),
  row(closed('1006'), 'transient', 'unknown', 'connection_lost'),
  row(closed('1001|1011|1012|1013|1014'), 'transient', 'unknown'),
  row(/service restart/i, 'transient', 'unknown'),

  row(
    /\bservice (?:is )?(?:currently |temporarily )?unavailable\b|\bcurrently unavailable\b|\b(?:server|service|system|model) is (?:too |currently |very )*busy\b/i,
    'transient',
    'failed',
  ),
  row(
    /certificate (?:verif\w+ failed|has expired|is not trusted|signed by unknown authority)|invalid (?:peer )?certificate|self[- ]signed certificate|unable to (?:verify the first|get local issuer) certificate|CERTIFICATE_VERIFY_FAILED|SSL certificate problem|\bx509: |\bcertification path\b|\b(?:ssl|tls) (?:handshake(?! timeout)|alert|routines)\b|\bSSLHandshakeException\b|\bwrong version number\b/i,
    'protocol',
    'not_started',
  ),
  ...unreachedTexts,
  ...systemTexts,
  ...timeoutTexts,
  ...brokenTexts,
  row(
    /\binternal (?:server )?error (?:has )?(?:encountered|occurred)|\bserver had an error\b|\ban error occurred while processing your request\b|\binternal server error\b|\bupstream (?:connect )?error\b/i,
    'transient',
    'unknown',
  ),
  row(
    /connection (?:failed|error)\b|waiting for network|\bfetch failed\b|\bfailed to fetch\b|^terminated$|^load failed$|\bnetworkerror when\b|\bunable to connect\b|\berror sending request\b/im,
    'transient',
    'unknown',
  ),
  row(/\bdeadlock (?:detected|found)\b|\bcould not serialize access\b/i, 'transient', 'failed'),
  row(
    /\bturn aborted\b|operation (?:was )?aborted|request was aborted|user cancelled mcp tool call|\bcontext cancell?ed\b/i,
    'cancelled',
    'cancelled',
  ),
]);

/** Meaning of a text, with the HTTP status and the code that it tells. */
type TextMeaning = Omit<ErrorText, 'pattern'> & {
  status?: number | undefined;
  code?: string | number | undefined;
};

/**
 * Tells what a text of an error channel means: the HTTP status that it tells, made more exact by its words; else its words, and the names of errors in it.
 */
export function textMeaning(text: string): TextMeaning | undefined {
  const told = toldLines(text).join('\n');
  const named = statedName(told);
  if (named !== undefined) return named;
  const words = plainSpeech(text);
  const said =
    codeText(told) ??
    rowMeaning(historyTexts, told) ??
    rowMeaning(errorTexts, words) ??
    grpcText(told) ??
    namedIn(told);
  const status = statusInText(words);
  return status === undefined ? said : sharpenedByWords({ ...statusMeaning(status), status }, said, words);
}

/** Forms whose first words are a name that settles what was answered; what follows is the words of whoever did. */
const stated = [/^rpc error: code = (?<name>[A-Za-z]+) desc = /, /^Error from server \((?<name>[A-Za-z]+)\): /m];

/** Returns what the name at the beginning of a text says, where it leaves nothing open. */
function statedName(text: string): TextMeaning | undefined {
  for (const pattern of stated) {
    const name = pattern.exec(text)?.groups?.['name'];
    const found = name === undefined ? undefined : nameMeaning(name);
    if (found?.kind === 'permanent' || found?.kind === 'auth') return found;
  }
  return undefined;
}

function rowMeaning(rows: readonly ErrorText[], text: string): TextMeaning | undefined {
  for (const { pattern, ...meaning } of rows) {
    const groups = pattern.exec(text);
    if (groups === null) continue;
    const code = groups.groups?.['code'];
    return { ...meaning, ...(code !== undefined && { code: /^\d+$/.test(code) ? Number(code) : code }) };
  }
  return undefined;
}

/** Names of errors as logs and SDKs write them: `ThrottlingException`, `(ExpiredToken)`, `"type":"rate_limit_error"`. */
const written = [
  /\b((?:[A-Za-z]\w{0,60}\.){0,8}[A-Z]\w{1,60}?(?:Exception|Error|Fault|Timeout|Exhausted|Unavailable|Argument|Denied|Unauthenticated|Throttled|NotFound|Failed))\b/g,
  /\b(ER_[A-Z_]{3,50})\b/g,
  /\(([A-Z]\w{3,60})\) when calling/g,
  /\bError from server \(([A-Z]\w{3,60})\)/g,
  /\bapi error ([A-Z]\w{3,60}):/g,
  /["'](?:type|code|status|reason|error|error_code|errorCode|__type|Code)["']? ?[:=] ?["']([\w.#-]{3,80})["']/g,
  /\b(?:status|code|reason): ([A-Z]{3,}(?:_[A-Z]+)*)\b/g,
];
const mostNames = 20;

function namedIn(text: string): TextMeaning | undefined {
  const names = written.flatMap((pattern) =>
    [...text.matchAll(pattern)].slice(0, mostNames).map(([, name = '']) => name),
  );
  return nameMeaning(...names);
}
