import type { EffectOutcome, FailureKind, FailureReason } from './failure.ts';

/** Meaning of the name of an error. */
interface NamedMeaning {
  readonly kind: FailureKind;
  readonly outcome: EffectOutcome;
  readonly reason?: FailureReason | undefined;
  /** The name that says so. */
  readonly code: string;
}

type Row = readonly [pattern: RegExp, kind: FailureKind, outcome: EffectOutcome, reason?: FailureReason];

/** Names of programming errors and of errors without a name: they say nothing of the other side. */
const ordinary =
  /^(?:|api|aggregate|type|range|reference|eval|uri|syntax|assertion|system|http|request|response|fetch|axios|invalidstate|dataclone|operationerror|unknown)$/;

/**
 * Names that services, SDKs and drivers give their errors, without case, separators, prefix and `Exception`; most telling first, as a quota
 * and a rate limit come together.
 */
const names: readonly Row[] = [
  // It is about the one who pays, not the account that asks.
  [
    /^(?:stripe)?card$|carddeclined|^paymentmethod$|instrumentdeclined|genericdecline|^expiredcard$|^incorrect(?:cvc|number|zip)$/,
    'permanent',
    'failed',
  ],
  [
    /insufficient(?:quota|balance|credits?|funds)|outofcredits|nocredits|creditbalance|credits?exhausted/,
    'quota',
    'failed',
  ],
  [/^billing|paymentrequired|spend(?:ing)?(?:limit|cap)|usagelimit|budget(?:limit)?exceeded/, 'quota', 'failed'],
  [/(?:daily|weekly|monthly)(?:usage)?limit|quotaexceeded|exceeded\w*quota|quotalimit/, 'quota', 'failed'],

  [
    /context(?:length|window|size)|(?:prompt|input)(?:is)?toolong|maxtokensexceeded/,
    'permanent',
    'failed',
    'context_length',
  ],
  [
    /(?<!http)(?:too(?:large|big|long))$|(?:request|payload|message|packet)sizeexceeded/,
    'permanent',
    'failed',
    'message_too_large',
  ],

  [
    /^(?!invalid|unsupported)\w*(?:throttl|toomanyrequests|ratelimit|requestlimitexceeded|throughputexceeded)/,
    'rate_limit',
    'failed',
  ],
  [
    /^(?:slowdown|userlimitreached|resourceexhausted|requestratetoolarge|enhanceyourcalm|floodwait)$/,
    'rate_limit',
    'failed',
  ],
  [/overload|modelnotready|(?:insufficient|no)capacity|capacityexceeded|atcapacity|serverbusy/, 'overloaded', 'failed'],
  [/toomanyconnections|concount|toomanyuserconnections/, 'transient', 'not_started'],

  [
    /unauthori[sz]ed|unauthenticated|^not(?:authed|authenticated|authori[sz]ed)|accessdenied|^forbidden$/,
    'auth',
    'failed',
  ],
  [
    /permission(?:s|denied|error)?$|nopermission|noperm$|(?:missing|insufficient|invalid)(?:scope|permission|auth$)/,
    'auth',
    'failed',
  ],
  [
    /authenticat|authori[sz]ation|authfail|loginfail|noauth|wrongpass|signaturedoesnotmatch|accountinactive|sasl/,
    'auth',
    'failed',
  ],
  [
    /^(?:invalid|incorrect|missing|no|expired|revoked|bad|unrecogni[sz]ed|deleted)\w{0,16}?(?:apikey|accesskeyid|token|tokenid|credentials?|grant|client|signature|password)$/,
    'auth',
    'failed',
  ],
  [/(?:apikey|token|credentials?)(?:is)?(?:expired|revoked|invalid|missing)|credentialsprovider/, 'auth', 'failed'],

  [
    /deadlock|lockwaittimeout|serializationfailure|writeconflict|transactionconflict|locknotavailable/,
    'transient',
    'failed',
  ],
  [/connect(?:ion)?time(?:d)?out|connecttimeout/, 'transient', 'not_started'],
  [/^(?!gateway)\w*(?:timeout|timedout|deadlineexceeded|maxtimemsexpired)/, 'timeout', 'unknown'],

  [
    /^(?!module|errmodule)\w*(?:notfound|nosuch|doesnotexist|nonexist|resourcemissing)/,
    'permanent',
    'failed',
    'not_found',
  ],
  [
    /^unknown(?:channel|user|message|guild|member|role|topic|command|table|column|resource|identifier|database)/,
    'permanent',
    'failed',
    'not_found',
  ],

  [/connectionrefused|serverselection|clientclosed|nohostsavailable|noavailableconnection/, 'transient', 'not_started'],
  [
    /connection(?:lost|reset|closed|aborted|terminated|dropped)|brokenpipe|networkerror$/,
    'transient',
    'unknown',
    'connection_lost',
  ],
  [/^(?:service|server|temporarily)\w*unavailable/, 'transient', 'failed'],
  [/^(?:loading|busy|tryagain|masterdown|clusterdown|readonlyreplica)$/, 'transient', 'failed'],
  [/notleader|leadernotavailable|coordinator(?:notavailable|loadinprogress)|notcoordinator/, 'transient', 'failed'],
  [
    /notprimary|notwritableprimary|steppeddown|interruptedatshutdown|shutdowninprogress|primarysteppeddown/,
    'transient',
    'unknown',
  ],
  [/unavailable|^internal(?:server|failure)?$|^internalserver|^server$|temporar/, 'transient', 'unknown'],
  [/connection(?:failed)?$/, 'transient', 'unknown'],
  [/^aborted$/, 'transient', 'failed'],
  [/^parse$|jsonparse|jsondecode|invalidjson|malformedresponse/, 'protocol', 'unknown'],
  [/^cancell?ed$/, 'cancelled', 'cancelled'],

  [
    /^(?:invalid|illegal|malformed|bad(?:request|argument|field)|validation|unsupported|unprocessable)/,
    'permanent',
    'failed',
  ],
  [
    /^(?:unimplemented|notimplemented|outofrange|failedprecondition|alreadyexists|methodnotallowed)$/,
    'permanent',
    'failed',
  ],
  [
    /^(?:duplicate|failedtoparse|documentvalidationfail|typemismatch|badvalue|commandnotfound|conditionalcheckfailed|missing(?:required)?(?:parameter|field|argument)|wrongtype)/,
    'permanent',
    'failed',
  ],
];

/** Longest name that is looked at, in characters. */
const longestName = 100;

/**
 * Tells what the names of an error mean, the most telling of them: `ThrottlingException`, `rate_limit_error`, `RESOURCE_EXHAUSTED`,
 * `com.example#ExpiredToken`. Undefined where they say nothing.
 */
export function nameMeaning(...given: readonly string[]): NamedMeaning | undefined {
  const bare = given.filter(isName).map((name) => [bareName(name), name] as const);
  const telling = bare.filter(([name]) => !ordinary.test(name));
  if (telling.length === 0) return undefined;
  for (const [pattern, kind, outcome, reason] of names) {
    const found = telling.find(([name]) => pattern.test(name));
    if (found !== undefined) return { kind, outcome, reason, code: found[1] };
  }
  return undefined;
}

/** Node's own codes are looked up by errno, and mean what is missing here. */
function isName(name: string): boolean {
  return name.length <= longestName && /^[\w.#:/$-]+$/.test(name) && !/^ERR_|^E[A-Z]{3,}$/.test(name);
}

function bareName(name: string): string {
  const last = name.replace(/:.*$/, '').split(/[.#/]/).at(-1) ?? '';
  return last
    .replace(/^ER_/, '')
    .replaceAll(/[^A-Za-z0-9]/g, '')
    .toLowerCase()
    .replace(/(?:exception|error|fault)+$/, '');
}
