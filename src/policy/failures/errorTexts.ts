import { codeText } from './databaseCodes.ts';
import { nameMeaning } from './errorNames.ts';
import { type Finding, means, type Row, texts } from './finding.ts';
import { grpcText } from './grpcStatus.ts';
import { statusInText } from './httpPhrases.ts';
import { statusMeaning } from './httpStatus.ts';
import { overloadTexts, payerText, quotaTexts, rateTexts } from './limitTexts.ts';
import { sharpenedByWords } from './sharpened.ts';
import { plainSpeech, toldLines } from './plainSpeech.ts';

/** `gateway closed (1012)`, `websocket closed: 1006`, `close code 1001`. */
const closed = (codes: string): RegExp =>
  new RegExp(`\\bclosed?(?: with)? ?(?:code:? ?|: ?|\\()(?<code>${codes})\\b`, 'i');

/**
 * Texts of services, SDKs and command lines, most telling first: an unpaired history and a full context come as plain 400s, an exhausted quota comes as 429
 * like a rate limit. To be matched against error channels only; the output of a model may quote any of these.
 */
const historyTexts = texts(means.unpaired, [
  /`?tool_use`? ids were found without `?tool_result`?/i,
  /unexpected `?tool_use_id`? found in `?tool_result`?/i,
  /message with '?tool_calls'? must be followed by tool messages/i,
  /no tool output found for function call/i,
]);

/** As above, of what a text says by itself. */
const errorTexts: readonly Row[] = [
  ...texts(means.contextLength, [
    /\b(?:prompt|input|conversation|chat history|transcript)(?: \w+){0,2} (?:is |are |was )?too long\b|\bcontext_length_exceeded\b|\bmaximum (?:context|prompt|model) (?:length|size|window)\b/i,
    /\b(?:exceed\w*|larger|greater|longer|beyond|overflow\w*|ran out|too (?:long|large|big) for|fit|fill\w*)\b[^.\n]{0,80}?\bcontext (?:length|windows?|size|limit)\b/i,
    /\bcontext (?:length|window|size|limit)\b[^.\n]{0,60}?\b(?:exceeded|too small|full|overflow\w*|reached)\b|\bcontext (?:the )?overflow/i,
    /\b(?:input|prompt)\b[^.\n]{0,60}?\bexceed\w*\b[^.\n]{0,40}?\btokens?\b|\btoo many input tokens\b|\breduce (?:the length of )?(?:the|your) (?:prompt|messages|input)\b/i,
    /\btokens(?! per)\b[^.\n]{0,40}?\bexceed\w*\b[^.\n]{0,20}?\blimit of \d|\btoken count\b[^.\n]{0,30}?\bexceed|\bmust have (?:less|fewer) than \d+ tokens\b|\b`?inputs`? tokens \+ `?max_new_tokens`? must be\b|\bprompt\b[^.\n]{0,40}\blonger than the maximum\b|\bprompt (?:has|contains) \d+ tokens\b[^.\n]{0,60}\b(?:max|only|too)\b/i,
  ]),
  ...texts(means.tooLarge, [
    /request too large|image was too large|request_too_large|\b(?:payload|entity|message|body|file|image) (?:is |was )?too (?:large|big)\b/i,
    /piped stdin input exceeds|exceeds the maximum (?:length of|size)|max_allowed_packet|message larger than max/i,
  ]),
  ...texts(means.permanent, [
    /output token maximum|reason: max_output_tokens|safeguards flagged|content[ _](?:filter|policy|management policy)/i,
  ]),
  ...texts({ kind: 'crash', outcome: 'unknown', reason: 'connection_lost' }, [
    /^(?:mcp error -32000: )?connection closed$/im,
  ]),
  ...texts({ kind: 'crash', outcome: 'not_started', reason: 'connection_lost' }, [/^not connected$/im]),
  ...texts(means.permanent, [payerText]),
  ...quotaTexts,
  ...overloadTexts,
  ...texts(means.overloaded, [/selected model is at capacity|experiencing high demand/i]),
  ...rateTexts,
  ...texts(means.auth, [
    /\bauth(?:entication|orization)?[_ ](?:error|failed|failure|required|denied)\b(?! over)|\bnot logged in\b|\bmust be logged in\b|\bbad credentials\b|\b(?:NOAUTH|WRONGPASS|NOPERM)\b/i,
    /(?:\binvalid|incorrect|missing|\bno|\bwrong|\bexpired)[_ ](?:\w+ )?(?:x-)?(?:api[-_ ]|subscription )?(?:key|token|credentials?|password)\b(?= ?(?:provided|found|·|[.!:;,]|$|["'])| or )|(?:\binvalid|incorrect|missing|\bno)[_ ](?:x-)?api[-_ ]key/i,
    /\b(?:api[-_ ]key|token|credentials?|session|password)\b(?: \w+){0,4} (?:is |was |has |have |are |been )*(?:not valid|invalid|missing|required|expired|revoked|incorrect|rejected|disabled|must be (?:set|given|passed|provided|specified))\b/i,
    /\b(?:sign|log) in again\b|\btokens? (?:could not|cannot|can['’]t) be refreshed\b|\b(?:failed|unable) to refresh (?:\w+ ){0,3}token\b|\b(?:set|setting|provide|export) (?:the |your )?\w*(?:API_KEY|_TOKEN)\b|\b\w*(?:API_KEY|_TOKEN)\b[^.\n]{0,40}?\b(?:must be set|(?:is )?(?:not set|missing|unset|empty|required))\b/i,
    /oauth token (?:revoked|has expired)|permission_error|organization has been disabled|missing environment variable|(?:unable to locate|could not load|no) (?:\w+ )?credentials\b/i,
    /failed to authenticate|\bauthentication (?:credentials|token)\b[^.\n]{0,30}\b(?:invalid|missing|not provided)|could not authenticate|could not read (?:username|password)|login (?:failed|incorrect|required|denied)|\brequested access to the resource is denied\b|\bpull access denied\b/i,
    /\b(?:is |are )?not authori[sz]ed\b|\bunauthenticated\b(?! (?:routes?|users?|requests?|access|paths?|endpoints?)\b)|(?<!EACCES: )\b(?:access|permission) (?:is |was )?denied (?:for user|to user|due to|\(publickey|on resource)|\bpassword authentication failed\b|^access denied\b/im,
    /\b(?:does not|doesn['’]t|do not|don['’]t) have (?:the )?(?:\w+ )?permissions?\b|\bPERMISSION_DENIED\b|\brequires authentication\b/i,
    closed('1008'),
  ]),
  ...texts(means.notFound, [
    /no session found with label|no (?:conversation|thread) (?:found )?with|no rollout found|thread not found/i,
  ]),
  ...texts(means.permanent, [
    /session id \S+ is already in use|input must be provided either|no prompt provided|cannot be used with root/i,
    /^error: unknown option|settings file not found|invalid mcp configuration|not inside a trusted directory/im,
  ]),
  ...texts(means.notFound, [
    /not_found_error|issue with the selected model|\bmodel\b[^.\n]{0,60}\b(?:not found|does not exist)\b|\bmodel_not_found\b|\brepository\b[^\n]{0,80}\bnot found\b|\bmanifest unknown\b|\bmanifest for \S+ not found\b/i,
  ]),
  ...texts(means.permanent, [
    /\bbad port\b|^unknown scheme$/im,
    /invalid_request_error|^unexpected redirect$|^redirect count exceeded$|\bINVALID_ARGUMENT\b|\binvalid argument\b(?=.*\brequest|$)/im,
    /\bsyntax error at or near\b|\berror in your sql syntax\b|\bviolates \S+(?: \S+)? constraint\b|\bduplicate (?:key|entry)\b|\b(?:relation|column|table|database) \S+ (?:of \S+ )?does not exist\b|\bno such (?:table|column)\b|\bunknown column\b/i,
    /\bnear "[^"\n]{0,80}": syntax error\b|\bincorrect syntax near\b|\binvalid (?:object|column) name '|\b(?:unique|not null|foreign key|primary key|check) constraint failed\b|\bSQL compilation error\b|\bsyntax error: failed at position \d|\bno viable alternative at input\b/i,
  ]),
  ...texts(means.refused, [/\bdatabase (?:table )?is locked\b/i]),
  ...texts(means.tooLarge, [closed('1009')]),
  ...texts(means.unsent, [/\bspawn\b.{0,200}?\b(?<code>EAGAIN|EMFILE|ENFILE|ENOMEM)\b/i]),
  ...texts(means.spawn, [/\bspawn\b.{0,200}?\b(?<code>ENOENT|EACCES|E2BIG|ENOEXEC|ENOTDIR)\b/i]),
  ...texts(means.unsent, [
    /\bfork\/exec \S{1,200}: (?:resource temporarily unavailable|cannot allocate memory|too many open files)/i,
  ]),
  ...texts(means.spawn, [
    /\bfork\/exec \S{1,200}: (?:no such file|permission denied|argument list too long|exec format error|not a directory)|\[errno (?:7|8)\]|\bargument list too long\b|\bexec format error\b/i,
  ]),
  ...texts(means.unspoken, [
    /no such tool available|empty or malformed response|json parse error|\binvalid json\b|\bunexpected token\b[^\n]{0,80}\bjson\b|\bJSONDecodeError\b|\bunexpected end of json\b|(?:server|client) not initialized|\bprotocol version\b[^.\n]{0,20}\b(?:not supported|unsupported|mismatch)|\bunsupported protocol version\b/i,
  ]),
  ...texts(means.protocol, [
    /\berror decoding response body: (?:expected|invalid|missing|unknown|trailing|duplicate|EOF while parsing)\b/i,
    // Whoever says so has an answer, which may be that of a request that was carried out.
    /\bunexpected content[- ]type\b/i,
    closed('1002|1003|1007'),
  ]),
  ...texts(means.crash, [
    /agent loop died unexpectedly|\bsegmentation fault\b|\bcore dumped\b|\bOOMKilled\b/i,
    /\b(?:terminated|killed|ended|exited|died)\b[^.\n]{0,20}?\b(?<code>SIG(?:KILL|TERM|SEGV|ABRT|BUS|HUP|QUIT))\b/,
  ]),
  ...texts(means.closed, [closed('1000|1005')]),
  ...texts(means.disconnected, [closed('1006')]),
  ...texts(means.broken, [closed('1001|1011|1012|1013|1014'), /service restart/i]),
  ...texts(means.refused, [
    /\bservice (?:is )?(?:currently |temporarily )?unavailable\b|\bcurrently unavailable\b|\b(?:server|service|system|model) is (?:too |currently |very )*busy\b/i,
  ]),
  ...texts(means.handshake, [
    /certificate (?:verif\w+ failed|has expired|is not trusted|signed by unknown authority)|invalid (?:peer )?certificate|self[- ]signed certificate|unable to (?:verify the first|get local issuer) certificate|CERTIFICATE_VERIFY_FAILED|SSL certificate problem|\bx509: |\bcertification path\b|\b(?:ssl|tls) (?:handshake(?! timeout)|alert|routines)\b|\bSSLHandshakeException\b|\bwrong version number\b/i,
  ]),
  // Nothing was sent: no name, no route, nobody there.
  ...texts(means.unsent, [
    /\b(?<code>ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|EHOSTDOWN|ENETDOWN|UND_ERR_CONNECT_TIMEOUT)\b/,
    /\bconnect (?<code>ETIMEDOUT)\b/,
    /\bconnection refused\b|\bactively refused\b|\[(?:win)?errno (?:111|61|113|101|10061)\]|\(?os error (?:111|61|113|101|10061)\)?/i,
    /\b(?:name or service not known|nodename nor servname|no such host|name resolution|could ?n[o']t resolve|unable to resolve|failed to resolve|failed to lookup|getaddrinfo|no address associated with|server misbehaving|dns (?:error|lookup failed|resolution failed)|NameResolutionError)\b/i,
    /\bno route to host\b|\bnetwork is (?:unreachable|down)\b|\bhost is (?:unreachable|down)\b|\bNewConnectionError\b|\bfailed to establish a (?:new )?connection\b/i,
    /\bconnect ?timeout(?:error)?\b(?! ?[=:]? ?\d)|\bConnectTimeout|\bconnect to host \S+ port \d+: \w+ timed out\b|\bwhen trying to connect\b|\ball connection attempts failed\b|\bTLS handshake timeout\b|\bOpenTimeout\b|\bnet::ERR_(?:CONNECTION_REFUSED|CONNECTION_TIMED_OUT|NAME_NOT_RESOLVED|INTERNET_DISCONNECTED|ADDRESS_UNREACHABLE|PROXY_CONNECTION_FAILED)\b|\bappears to be offline\b|\bconnect timed out\b|\bdial (?:tcp|udp|unix)\b[^\n]{0,100}?\b(?:i\/o timeout|timed out)|\b(?:did not|without) establish(?:ing)? a connection\b|\bdue to connection timeout\b/i,
    /\btoo many (?:clients|connections)\b|\bremaining connection slots\b|\bmax(?:imum)? number of clients reached\b|\bconnection to the server \S+ was refused\b|\bunknown ?host(?:exception)?\b|\brefused stream\b|(?:\b|_)REFUSED_STREAM\b/i,
    /\btcp connect error\b|\berror trying to connect\b|\bno connection established\b|\bserver selection timed out\b|\bcan['’]t reach the api\b|\bdatabase system is (?:starting up|shutting down|in recovery mode|not yet accepting)/i,
    /\b(?:failed to|could ?n[o']t|cannot|can['’]t|unable to) connect to (?:(?!api\b)\S+ )?(?:\S+ )?(?:(?:port|server|host|database|all addresses|proxy|broker|socket|endpoint)\b|\S+:\d+)/i,
  ]),
  // The system gave up a connection that stood, after a time of its own.
  ...texts(means.disconnected, [/\[(?:win)?errno (?:110|60|10060)\]|\(?os error (?:110|60|10060)\)?/i]),
  // The limit of a client, of a server, or of whoever waited: what was asked may be under way.
  ...texts(means.timeout, [
    /\b(?:idle|read|write|request|response|socket|headers?|body|command|query|statement|operation|execution|stream|pool|inactivity|navigation|upstream request|first[- ]byte) ?time-?out(?:error)?\b(?! (?:is|set|of \d{1,15} ?\w{0,15} (?:is|set|configured))\b| ?[=:]? ?\d)/i,
    /\btimed[- ]?out\b|\btimeout of \S+(?: \w+)? exceeded\b|\btimeout (?:exceeded|expired|reached|elapsed|occurred|waiting|awaiting|after|error)\b|\bmaximum total timeout\b|\btimeout_error\b/i,
    /\bdeadline (?:has |was )?(?:exceeded|expired|passed|reached)\b|\bDEADLINE_EXCEEDED\b|\btime limit (?:was |has been )?(?:exceeded|reached)\b|\b(?:took|taking) too long\b|\bi\/o timeout\b/i,
    /\bstream(?:ing)?\b[^.\n]{0,30}\bstalled\b|\bstalled\b[^.\n]{0,30}\b(?:stream|response|connection)\b|\bno (?:data|output|chunks?|events?|response|bytes)(?: \w+)? (?:received |for )+(?:\w+ )?\d/i,
    /\btimeout (?:on|while|during|in) \w+|\bexceeded (?:the )?(?:\w+ )?(?:timeout|time limit)\b|\btimeout expired\b|\baborted due to timeout\b|\btimeout \d{1,15} ?\w{0,15} exceeded\b|\bnet::ERR_TIMED_OUT\b|\btimeout of [^.\n]{1,40} elapsing\b|\bdeadline has elapsed\b|\bRead timeout\b/i,
  ]),
  // A connection that stood and broke.
  ...texts(means.disconnected, [
    /\b(?<code>ECONNRESET|EPIPE|ETIMEDOUT|ECONNABORTED|ENETRESET|UND_ERR_SOCKET)\b/,
    /\bconnection (?:to \S+(?: \S+)? )?(?:was |is |has been |got )?(?:forcibly |unexpectedly |prematurely )?(?:reset|closed by|closed before|closed unexpectedly|aborted|broken|dropped|lost|interrupted|terminated|disconnected|closed)\b/i,
    /\breset by peer\b|\bbroken pipe\b|\[(?:win)?errno (?:104|32|54|110|60|10054|10060)\]|\(?os error (?:104|32|54|110|60|10054|10060)\)?|\bremote (?:end|host) (?:hung up|closed)\b/i,
    /\bstream disconnected before completion|\bsocket hang up\b|\bother side closed\b|\bsocket (?:was )?(?:closed|disconnected)\b|\bserver (?:unexpectedly )?(?:disconnected|closed the connection)\b|\bpeer closed\b/i,
    /\bunexpected (?:eof|end of (?:file|stream|json input from))\b|\beof occurred\b|\bearly eof\b|: EOF$|\bIncomplete(?:Read|Message|Body)\b|\bincomplete (?:chunked read|message|body)\b|\bpremature(?:ly)? (?:close|end|eof|closed|ended)/im,
    /\bempty reply from server\b|\btransfer closed\b|\bresponse ended prematurely\b|\bstream (?:has been |was )?(?:aborted|reset|interrupted)\b|\bstream ended without\b|\bconnection aborted\b|\bGOAWAY\b|\bpayload is not completed\b/i,
    /\berror while reading the server response\b|\berror reading a body from connection\b|\berror decoding response body\b|\bclosed before (?:the )?(?:message|response|we received)|\bdisconnect\/reset before headers\b|\bRemoteProtocolError\b|\bRPC failed\b|\bend of file before message\b|\bfailed to respond\b|\bconnection \d+ to \S+ closed\b|\bhttp\/2 stream \d+ was not closed\b|\bstream error: stream ID \d+|\bNoHttpResponse|\bSSL_ERROR_SYSCALL\b|\bframing layer\b|\bnet::ERR_(?:CONNECTION_(?:RESET|CLOSED|ABORTED)|EMPTY_RESPONSE|NETWORK_CHANGED|HTTP2_\w+|QUIC_\w+|SOCKET_NOT_CONNECTED|INCOMPLETE_\w+|CONTENT_LENGTH_MISMATCH)\b/i,
    /\breached the max retries per request limit\b|\bnetwork (?:error|connection (?:was )?(?:lost|changed|interrupted))\b|\babnormal closure\b|^terminated$|\binvalid eof state\b|\bcommunications? link failure\b|\bserver has gone away\b|\blost connection to (?:\w+ )?server\b/im,
  ]),
  ...texts(means.broken, [
    /\binternal (?:server )?error (?:has )?(?:encountered|occurred)|\bserver had an error\b|\ban error occurred while processing your request\b|\binternal server error\b|\bupstream (?:connect )?error\b/i,
    /connection (?:failed|error)\b|waiting for network|\bfetch failed\b|\bfailed to fetch\b|^terminated$|^load failed$|\bnetworkerror when\b|\bunable to connect\b|\berror sending request\b/im,
  ]),
  ...texts(means.refused, [/\bdeadlock (?:detected|found)\b|\bcould not serialize access\b/i]),
  ...texts(means.cancelled, [
    /\bturn aborted\b|operation (?:was )?aborted|request was aborted|user cancelled mcp tool call|\bcontext cancell?ed\b/i,
  ]),
];

/**
 * Tells what a text of an error channel means: the HTTP status that it tells, made more exact by its words; else its words, and the names of errors in it.
 */
export function textMeaning(text: string): Finding | undefined {
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
function statedName(text: string): Finding | undefined {
  for (const pattern of stated) {
    const name = pattern.exec(text)?.groups?.['name'];
    const found = name === undefined ? undefined : nameMeaning(name);
    if (found?.kind === 'permanent' || found?.kind === 'auth') return found;
  }
  return undefined;
}

function rowMeaning(rows: readonly Row[], text: string): Finding | undefined {
  for (const [pattern, meaning] of rows) {
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

function namedIn(text: string): Finding | undefined {
  const names = written.flatMap((pattern) =>
    [...text.matchAll(pattern)].slice(0, mostNames).map(([, name = '']) => name),
  );
  return nameMeaning(...names);
}
