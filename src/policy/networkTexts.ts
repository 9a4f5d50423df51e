import { type ErrorText, row } from './textRow.ts';

/** Nothing was sent: no name, no route, nobody there. */
export const unreachedTexts: readonly ErrorText[] = [
  /\b(?<code>ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|EHOSTDOWN|ENETDOWN|UND_ERR_CONNECT_TIMEOUT)\b/,
  /\bconnect (?<code>ETIMEDOUT)\b/,
  /\bconnection refused\b|\bactively refused\b|\[(?:win)?errno (?:111|61|113|101|10061)\]|\(?os error (?:111|61|113|101|10061)\)?/i,
  /\b(?:name or service not known|nodename nor servname|no such host|name resolution|could ?n[o']t resolve|unable to resolve|failed to resolve|failed to lookup|getaddrinfo|no address associated with|server misbehaving|dns (?:error|lookup failed|resolution failed)|NameResolutionError)\b/i,
  /\bno route to host\b|\bnetwork is (?:unreachable|down)\b|\bhost is (?:unreachable|down)\b|\bNewConnectionError\b|\bfailed to establish a (?:new )?connection\b/i,
  /\bconnect ?timeout(?:error)?\b(?! ?[=:]? ?\d)|\bConnectTimeout|\bconnect to host \S+ port \d+: \w+ timed out\b|\bwhen trying to connect\b|\ball connection attempts failed\b|\bTLS handshake timeout\b|\bOpenTimeout\b|\bnet::ERR_(?:CONNECTION_REFUSED|CONNECTION_TIMED_OUT|NAME_NOT_RESOLVED|INTERNET_DISCONNECTED|ADDRESS_UNREACHABLE|PROXY_CONNECTION_FAILED)\b|\bappears to be offline\b|\bconnect timed out\b|\bdial (?:tcp|udp|unix)\b[^\n]{0,100}?\b(?:i\/o timeout|timed out)|\b(?:did not|without) establish(?:ing)? a connection\b|\bdue to connection timeout\b/i,
  /\btoo many (?:clients|connections)\b|\bremaining connection slots\b|\bmax(?:imum)? number of clients reached\b|\bconnection to the server \S+ was refused\b|\bunknown ?host(?:exception)?\b|\brefused stream\b|(?:\b|_)REFUSED_STREAM\b/i,
  /\btcp connect error\b|\berror trying to connect\b|\bno connection established\b|\bserver selection timed out\b|\bcan['’]t reach the api\b|\bdatabase system is (?:starting up|shutting down|in recovery mode|not yet accepting)/i,
  /\b(?:failed to|could ?n[o']t|cannot|can['’]t|unable to) connect to (?:(?!api\b)\S+ )?(?:\S+ )?(?:(?:port|server|host|database|all addresses|proxy|broker|socket|endpoint)\b|\S+:\d+)/i,
].map((pattern) => row(pattern, 'transient', 'not_started'));

/** The system gave up a connection that stood, after a time of its own. */
export const systemTexts: readonly ErrorText[] = [
  /\[(?:win)?errno (?:110|60|10060)\]|\(?os error (?:110|60|10060)\)?/i,
].map((pattern) => row(pattern, 'transient', 'unknown', 'connection_lost'));

/** The limit of a client, of a server, or of whoever waited: what was asked may be under way. */
export const timeoutTexts: readonly ErrorText[] = [
  /\b(?:idle|read|write|request|response|socket|headers?|body|command|query|statement|operation|execution|stream|pool|inactivity|navigation|upstream request|first[- ]byte) ?time-?out(?:error)?\b(?! (?:is|set|of \d+ ?\w* (?:is|set|configured))\b| ?[=:]? ?\d)/i,
  /\btimed[- ]?out\b|\btimeout of \S+(?: \w+)? exceeded\b|\btimeout (?:exceeded|expired|reached|elapsed|occurred|waiting|awaiting|after|error)\b|\bmaximum total timeout\b|\btimeout_error\b/i,
  /\bdeadline (?:has |was )?(?:exceeded|expired|passed|reached)\b|\bDEADLINE_EXCEEDED\b|\btime limit (?:was |has been )?(?:exceeded|reached)\b|\b(?:took|taking) too long\b|\bi\/o timeout\b/i,
  /\bstream(?:ing)?\b[^.\n]{0,30}\bstalled\b|\bstalled\b[^.\n]{0,30}\b(?:stream|response|connection)\b|\bno (?:data|output|chunks?|events?|response|bytes)(?: \w+)? (?:received |for )+(?:\w+ )?\d/i,
  /\btimeout (?:on|while|during|in) \w+|\bexceeded (?:the )?(?:\w+ )?(?:timeout|time limit)\b|\btimeout expired\b|\baborted due to timeout\b|\btimeout \d+ ?\w* exceeded\b|\bnet::ERR_TIMED_OUT\b|\btimeout of [^.\n]{1,40} elapsing\b|\bdeadline has elapsed\b|\bRead timeout\b/i,
].map((pattern) => row(pattern, 'timeout', 'unknown'));

/** A connection that stood and broke. */
export const brokenTexts: readonly ErrorText[] = [
  /\b(?<code>ECONNRESET|EPIPE|ETIMEDOUT|ECONNABORTED|ENETRESET|UND_ERR_SOCKET)\b/,
  /\bconnection (?:to \S+(?: \S+)? )?(?:was |is |has been |got )?(?:forcibly |unexpectedly |prematurely )?(?:reset|closed by|closed before|closed unexpectedly|aborted|broken|dropped|lost|interrupted|terminated|disconnected|closed)\b/i,
  /\breset by peer\b|\bbroken pipe\b|\[(?:win)?errno (?:104|32|54|110|60|10054|10060)\]|\(?os error (?:104|32|54|110|60|10054|10060)\)?|\bremote (?:end|host) (?:hung up|closed)\b/i,
  /\bstream disconnected before completion|\bsocket hang up\b|\bother side closed\b|\bsocket (?:was )?(?:closed|disconnected)\b|\bserver (?:unexpectedly )?(?:disconnected|closed the connection)\b|\bpeer closed\b/i,
  /\bunexpected (?:eof|end of (?:file|stream|json input from))\b|\beof occurred\b|\bearly eof\b|: EOF$|\bIncomplete(?:Read|Message|Body)\b|\bincomplete (?:chunked read|message|body)\b|\bpremature(?:ly)? (?:close|end|eof|closed|ended)/im,
  /\bempty reply from server\b|\btransfer closed\b|\bresponse ended prematurely\b|\bstream (?:has been |was )?(?:aborted|reset|interrupted)\b|\bstream ended without\b|\bconnection aborted\b|\bGOAWAY\b|\bpayload is not completed\b/i,
  /\berror while reading the server response\b|\berror decoding response body\b|\bclosed before (?:the )?(?:message|response|we received)|\bdisconnect\/reset before headers\b|\bRemoteProtocolError\b|\bRPC failed\b|\bend of file before message\b|\bfailed to respond\b|\bconnection \d+ to \S+ closed\b|\bhttp\/2 stream \d+ was not closed\b|\bstream error: stream ID \d+|\bNoHttpResponse|\bSSL_ERROR_SYSCALL\b|\bframing layer\b|\bnet::ERR_(?:CONNECTION_(?:RESET|CLOSED|ABORTED)|EMPTY_RESPONSE|NETWORK_CHANGED|HTTP2_\w+|QUIC_\w+|SOCKET_NOT_CONNECTED|INCOMPLETE_\w+|CONTENT_LENGTH_MISMATCH)\b/i,
  /\breached the max retries per request limit\b|\bnetwork (?:error|connection (?:was )?(?:lost|changed|interrupted))\b|\babnormal closure\b|^terminated$|\binvalid eof state\b|\bcommunications? link failure\b|\bserver has gone away\b|\blost connection to (?:\w+ )?server\b/im,
].map((pattern) => row(pattern, 'transient', 'unknown', 'connection_lost'));
