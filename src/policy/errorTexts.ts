import type { EffectOutcome, FailureKind, FailureReason } from './failure.ts';

/** A text of an error channel and what it means. */
export interface ErrorText {
  readonly pattern: RegExp;
  readonly kind: FailureKind;
  readonly outcome: EffectOutcome;
  readonly reason?: FailureReason | undefined;
}

const text = (pattern: RegExp, kind: FailureKind, outcome: EffectOutcome, reason?: FailureReason): ErrorText => ({
  pattern,
  kind,
  outcome,
  reason,
});

/**
 * What the services and command lines of this field say, most telling first: an unpaired history and a full context come as plain
 * 400s, an exhausted quota comes as 429 like a rate limit. To be matched against error channels only; the output of a model may
 * quote any of these.
 */
export const errorTexts: readonly ErrorText[] = [
  text(/`?tool_use`? ids were found without `?tool_result`?/i, 'permanent', 'failed', 'history_unpaired'),
  text(/unexpected `?tool_use_id`? found in `?tool_result`?/i, 'permanent', 'failed', 'history_unpaired'),
  text(/message with 'tool_calls' must be followed by tool messages/i, 'permanent', 'failed', 'history_unpaired'),
  text(/no tool output found for function call/i, 'permanent', 'failed', 'history_unpaired'),
  text(
    /prompt is too long|exceeds? (?:the )?context (?:limit|window|length)|context_length_exceeded/i,
    'permanent',
    'failed',
    'context_length',
  ),
  text(/ran out of room in the model's context window|conversation too long/i, 'permanent', 'failed', 'context_length'),
  text(/request too large|image was too large|request_too_large/i, 'permanent', 'failed', 'message_too_large'),
  text(/insufficient_quota|credit balance is too low|credit_balance_exhausted|billing_error/i, 'quota', 'failed'),
  text(
    /(?:organization|project)_spend_limit_exceeded|usage_limit_(?:exceeded|reached)|enforced_spend_limit/i,
    'quota',
    'failed',
  ),
  text(/you['’]ve hit your (?:usage|session|weekly) limit|quota exceeded|out of credits/i, 'quota', 'failed'),
  text(
    /overloaded_error|server_is_overloaded|\b529\b|server overloaded|selected model is at capacity/i,
    'overloaded',
    'failed',
  ),
  text(/experiencing high demand|temporarily unavailable/i, 'overloaded', 'failed'),
  text(
    /rate_limit(?:_error|_exceeded)?|rate limit|too many requests|\b(?:http|status|error)[: ]*429\b|\(429\)|request rejected \(429\)/i,
    'rate_limit',
    'failed',
  ),
  text(/temporarily limiting requests|slow_down/i, 'rate_limit', 'failed'),
  text(
    /authentication_error|authentication_failed|invalid[_ ]api[_ ]key|incorrect api key|not logged in/i,
    'auth',
    'failed',
  ),
  text(
    /oauth token (?:revoked|has expired)|permission_error|organization has been disabled|missing environment variable/i,
    'auth',
    'failed',
  ),
  text(/\b(?:http|status|error)[: ]*40[13]\b|unauthorized|failed to authenticate/i, 'auth', 'failed'),
  text(
    /no session found with label|no (?:conversation|thread) (?:found )?with|no rollout found|thread not found/i,
    'permanent',
    'failed',
    'not_found',
  ),
  text(/invalid_request_error|not_found_error|no such tool available/i, 'permanent', 'failed'),
  text(/\b(?:http|status|error)[: ]*(?:400|404|405|410|413|422|501)\b/i, 'permanent', 'failed'),
  text(/gateway closed \((?:1001|1006|1011|1012|1013)\)|abnormal closure|service restart/i, 'transient', 'unknown'),
  text(
    /stream disconnected before completion|connection (?:dropped|lost|reset)|socket hang up|other side closed/i,
    'transient',
    'unknown',
  ),
  text(/\b(?:http|status|error)[: ]*503\b|service unavailable/i, 'transient', 'failed'),
  text(
    /\b(?:http|status|error)[: ]*(?:500|502|504)\b|internal server error|bad gateway|gateway timeout/i,
    'transient',
    'unknown',
  ),
  text(/unable to connect to api|connection refused|can['’]t reach|fetch failed/i, 'transient', 'not_started'),
  text(/request timed out|idle timeout|timed out after|timeout_error/i, 'timeout', 'unknown'),
  text(/turn aborted|operation aborted|this operation was aborted/i, 'cancelled', 'cancelled'),
];
