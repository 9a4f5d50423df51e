import type { EffectOutcome, FailureKind, FailureReason } from './failure.ts';
import { reasonPhrases, statusNumber, statusOfPhrase } from './httpPhrases.ts';

/** A text of an error channel and what it means. */
export interface ErrorText {
  /** A group named `status` is the HTTP status, `phrase` its reason phrase, `code` the close code or errno name that the text tells. */
  readonly pattern: RegExp;
  readonly kind: FailureKind;
  readonly outcome: EffectOutcome;
  readonly reason?: FailureReason | undefined;
}

const row = (pattern: RegExp, kind: FailureKind, outcome: EffectOutcome, reason?: FailureReason): ErrorText =>
  Object.freeze({ pattern, kind, outcome, reason });

/** These HTTP statuses, by number or by reason phrase. They mean what `byStatus` says of the number. */
const http = (codes: string, kind: FailureKind, outcome: EffectOutcome, reason?: FailureReason): readonly ErrorText[] =>
  [statusNumber(codes), ...reasonPhrases(codes)].map((pattern) => row(pattern, kind, outcome, reason));

/** `gateway closed (1012)`, `websocket closed: 1006`, `close code 1001`. */
const closed = (codes: string): RegExp =>
  new RegExp(`\\bclosed?(?: with)? ?(?:code:? ?|: ?|\\()(?<code>${codes})\\b`, 'i');

/**
 * What the services and command lines of this field say, most telling first: an unpaired history and a full context come as plain
 * 400s, an exhausted quota comes as 429 like a rate limit. To be matched against error channels only; the output of a model may
 * quote any of these.
 */
const errorTexts: readonly ErrorText[] = Object.freeze([
  row(/`?tool_use`? ids were found without `?tool_result`?/i, 'permanent', 'failed', 'history_unpaired'),
  row(/unexpected `?tool_use_id`? found in `?tool_result`?/i, 'permanent', 'failed', 'history_unpaired'),
  row(/message with '?tool_calls'? must be followed by tool messages/i, 'permanent', 'failed', 'history_unpaired'),
  row(/no tool output found for function call/i, 'permanent', 'failed', 'history_unpaired'),
  row(
    /prompt is too long|conversation too long|exceeds? (?:the )?(?:model's )?(?:maximum )?context (?:limit|window|length)/i,
    'permanent',
    'failed',
    'context_length',
  ),
  row(
    /context_length_exceeded|ran out of room in the model['’]s context window/i,
    'permanent',
    'failed',
    'context_length',
  ),
  row(/request too large|image was too large|request_too_large/i, 'permanent', 'failed', 'message_too_large'),
  row(/piped stdin input exceeds|exceeds the maximum length of/i, 'permanent', 'failed', 'message_too_large'),
  row(/output token maximum|reason: max_output_tokens|safeguards flagged/i, 'permanent', 'failed'),

  row(/insufficient_quota|credit balance is too low|credit_balance_exhausted|billing_error/i, 'quota', 'failed'),
  row(/spend_limit_(?:exceeded|reached)|usage_?limit_?(?:exceeded|reached)|usage limit reached/i, 'quota', 'failed'),
  row(
    /you['’]ve hit your (?:\w+ )?limit|quota exceeded|out of credits|to use codex with your chatgpt plan/i,
    'quota',
    'failed',
  ),
  ...http('402', 'quota', 'failed'),

  ...http('529', 'overloaded', 'failed'),
  row(
    /overloaded_error|server_?is_?overloaded|server_?overloaded|server overloaded|api error: overloaded/i,
    'overloaded',
    'failed',
  ),
  row(/selected model is at capacity|experiencing high demand/i, 'overloaded', 'failed'),
  row(/(?<!service )temporarily unavailable/i, 'overloaded', 'failed'),

  ...http('429', 'rate_limit', 'failed'),
  row(/rate_limit_(?:error|exceeded)|\brate.?limit(?:s|ed|ing|exceeded)?\b|\bslow_down\b/i, 'rate_limit', 'failed'),
  row(/request rejected \((?<status>429)\)|temporarily limiting requests/i, 'rate_limit', 'failed'),

  ...http('401|403|407|511', 'auth', 'failed'),
  row(
    /\bauth(?:entication|orization)?[_ ](?:error|failed|failure|required|denied)\b(?! over)|not logged in|\bbad credentials\b/i,
    'auth',
    'failed',
  ),
  row(
    /(?:\binvalid|incorrect|missing|\bno)[_ ](?:x-)?api[-_ ]key|\bapi[-_ ]key (?:is |was )?(?:not valid|invalid|missing|required)/i,
    'auth',
    'failed',
  ),
  row(
    /oauth token (?:revoked|has expired)|permission_error|organization has been disabled|missing environment variable/i,
    'auth',
    'failed',
  ),
  row(/failed to authenticate/i, 'auth', 'failed'),
  row(closed('1008'), 'auth', 'failed'),

  row(
    /no session found with label|no (?:conversation|thread) (?:found )?with|no rollout found|thread not found/i,
    'permanent',
    'failed',
    'not_found',
  ),
  row(
    /session id \S+ is already in use|input must be provided either|no prompt provided|cannot be used with root/i,
    'permanent',
    'failed',
  ),
  row(
    /^error: unknown option|settings file not found|invalid mcp configuration|not inside a trusted directory/im,
    'permanent',
    'failed',
  ),
  row(/not_found_error|issue with the selected model/i, 'permanent', 'failed', 'not_found'),
  row(
    /certificate verification failed|self[- ]signed certificate|unable to verify the first certificate|\bbad port\b|^unknown scheme$/im,
    'permanent',
    'not_started',
  ),
  row(/invalid_request_error|^unexpected redirect$|^redirect count exceeded$/im, 'permanent', 'failed'),
  ...http('404|410', 'permanent', 'failed', 'not_found'),
  ...http('413', 'permanent', 'failed', 'message_too_large'),
  ...http('4(?!08|09|25)\\d\\d|501|505', 'permanent', 'failed'),
  row(closed('1009'), 'permanent', 'failed', 'message_too_large'),

  row(/\bspawn\b.{0,200}?\b(?<code>EAGAIN|EMFILE|ENFILE|ENOMEM)\b/i, 'transient', 'not_started'),
  row(/\bspawn\b.{0,200}?\b(?<code>ENOENT|EACCES|E2BIG|ENOEXEC|ENOTDIR)\b/i, 'spawn', 'not_started'),
  row(
    /no such tool available|empty or malformed response|json parse error|(?:server|client) not initialized/i,
    'protocol',
    'failed',
  ),
  row(closed('1002|1003|1007'), 'protocol', 'unknown'),

  row(/agent loop died unexpectedly/i, 'crash', 'unknown'),
  row(/^(?:mcp error -32000: )?connection closed$/im, 'crash', 'unknown', 'connection_lost'),
  row(/^not connected$/im, 'crash', 'not_started', 'connection_lost'),
  row(closed('1000|1005'), 'crash', 'unknown', 'connection_closed'),
  row(closed('1006'), 'transient', 'unknown', 'connection_lost'),
  row(closed('1001|1011|1012|1013|1014'), 'transient', 'unknown'),
  row(/abnormal closure/i, 'transient', 'unknown', 'connection_lost'),
  row(/service restart/i, 'transient', 'unknown'),

  ...http('408|409|425|503', 'transient', 'failed'),
  row(/service temporarily unavailable/i, 'transient', 'failed'),
  ...http('5\\d\\d', 'transient', 'unknown'),
  row(
    /\b(?<code>ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|ENETDOWN|UND_ERR_CONNECT_TIMEOUT)\b/,
    'transient',
    'not_started',
  ),
  row(/connection refused|can['’]t reach the api/i, 'transient', 'not_started'),
  row(/\b(?<code>ECONNRESET|EPIPE|ETIMEDOUT|UND_ERR_SOCKET)\b/, 'transient', 'unknown', 'connection_lost'),
  row(
    /stream disconnected before completion|connection (?:to the api )?(?:was )?(?:dropped|lost|reset)/i,
    'transient',
    'unknown',
    'connection_lost',
  ),
  row(/connection failed|waiting for network/i, 'transient', 'unknown'),
  row(
    /socket hang up|other side closed|error while reading the server response|stream ended without/i,
    'transient',
    'unknown',
    'connection_lost',
  ),
  row(/^(?:fetch failed|terminated|connection error\.?)$|unable to connect to api/im, 'transient', 'unknown'),

  row(
    /request timed out|\brequest timeout\b|idle timeout|timed out after|timeout_error|timeout waiting for|maximum total timeout/i,
    'timeout',
    'unknown',
  ),
  row(
    /\bturn aborted\b|operation (?:was )?aborted|request was aborted|user cancelled mcp tool call/i,
    'cancelled',
    'cancelled',
  ),
]);

/** The first text of the catalogue that `text` holds. */
export function textMeaning(text: string): (ErrorText & { status?: number; code?: string | number }) | undefined {
  for (const known of errorTexts) {
    const groups = known.pattern.exec(text);
    if (groups === null) continue;
    const { status: told, phrase, code } = groups.groups ?? {};
    const status = told === undefined ? statusOfPhrase(phrase ?? '') : Number(told);
    return {
      ...known,
      ...(status !== undefined && { status }),
      ...(code !== undefined && { code: /^\d+$/.test(code) ? Number(code) : code }),
    };
  }
  return undefined;
}
