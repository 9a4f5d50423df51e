import { type Finding, means, type Row } from './finding.ts';

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
    means.permanent,
  ],
  [/insufficient(?:quota|balance|credits?|funds)|outofcredits|nocredits|creditbalance|credits?exhausted/, means.quota],
  [/^billing|paymentrequired|spend(?:ing)?(?:limit|cap)|usagelimit|budget(?:limit)?exceeded/, means.quota],
  [/(?:daily|weekly|monthly)(?:usage)?limit|quotaexceeded|exceeded\w*quota|quotalimit/, means.quota],

  [/context(?:length|window|size)|(?:prompt|input)(?:is)?toolong|maxtokensexceeded/, means.contextLength],
  [/(?<!http)(?:too(?:large|big|long))$|(?:request|payload|message|packet)sizeexceeded/, means.tooLarge],

  [
    /^(?!invalid|unsupported)\w*(?:throttl|toomanyrequests|ratelimit|requestlimitexceeded|throughputexceeded)/,
    means.rateLimit,
  ],
  [/^(?:slowdown|userlimitreached|resourceexhausted|requestratetoolarge|enhanceyourcalm|floodwait)$/, means.rateLimit],
  [/overload|modelnotready|(?:insufficient|no)capacity|capacityexceeded|atcapacity|serverbusy/, means.overloaded],
  [/toomanyconnections|concount|toomanyuserconnections/, means.unsent],

  [/unauthori[sz]ed|unauthenticated|^not(?:authed|authenticated|authori[sz]ed)|accessdenied|^forbidden$/, means.auth],
  [
    /permission(?:s|denied|error)?$|nopermission|noperm$|(?:missing|insufficient|invalid)(?:scope|permission|auth$)/,
    means.auth,
  ],
  [
    /authenticat|authori[sz]ation|authfail|loginfail|noauth|wrongpass|signaturedoesnotmatch|accountinactive|sasl/,
    means.auth,
  ],
  [
    /^(?:invalid|incorrect|missing|no|expired|revoked|bad|unrecogni[sz]ed|deleted)\w{0,16}?(?:apikey|accesskeyid|token|tokenid|credentials?|grant|client|signature|password)$/,
    means.auth,
  ],
  [/(?:apikey|token|credentials?)(?:is)?(?:expired|revoked|invalid|missing)|credentialsprovider/, means.auth],

  [/deadlock|lockwaittimeout|serializationfailure|writeconflict|transactionconflict|locknotavailable/, means.refused],
  [/connect(?:ion)?time(?:d)?out|connecttimeout/, means.unsent],
  [/^(?!gateway)\w*(?:timeout|timedout|deadlineexceeded|maxtimemsexpired)/, means.timeout],

  [/^(?!module|errmodule)\w*(?:notfound|nosuch|doesnotexist|nonexist|resourcemissing)/, means.notFound],
  [
    /^unknown(?:channel|user|message|guild|member|role|topic|command|table|column|resource|identifier|database)/,
    means.notFound,
  ],

  [/connectionrefused|serverselection|clientclosed|nohostsavailable|noavailableconnection/, means.unsent],
  [/connection(?:lost|reset|closed|aborted|terminated|dropped)|brokenpipe|networkerror$/, means.disconnected],
  [/^(?:service|server|temporarily)\w*unavailable/, means.refused],
  [/^(?:loading|busy|tryagain|masterdown|clusterdown|readonlyreplica)$/, means.refused],
  [/notleader|leadernotavailable|coordinator(?:notavailable|loadinprogress)|notcoordinator/, means.refused],
  [
    /notprimary|notwritableprimary|steppeddown|interruptedatshutdown|shutdowninprogress|primarysteppeddown/,
    means.broken,
  ],
  [/unavailable|^internal(?:server|failure)?$|^internalserver|^server$|temporar/, means.broken],
  [/connection(?:failed)?$/, means.broken],
  [/^aborted$/, means.refused],
  [/^parse$|jsonparse|jsondecode|invalidjson|malformedresponse/, means.protocol],
  [/^cancell?ed$/, means.cancelled],

  [
    /^(?:invalid|illegal|malformed|bad(?:request|argument|field)|validation|unsupported|unprocessable)/,
    means.permanent,
  ],
  [/^(?:unimplemented|notimplemented|outofrange|failedprecondition|alreadyexists|methodnotallowed)$/, means.permanent],
  [
    /^(?:duplicate|failedtoparse|documentvalidationfail|typemismatch|badvalue|commandnotfound|conditionalcheckfailed|missing(?:required)?(?:parameter|field|argument)|wrongtype)/,
    means.permanent,
  ],
];

/** Longest name that is looked at, in characters. */
const longestName = 100;

/**
 * Tells what the names of an error mean, the most telling of them: `ThrottlingException`, `rate_limit_error`, `RESOURCE_EXHAUSTED`,
 * `com.example#ExpiredToken`. Undefined where they say nothing.
 */
export function nameMeaning(...given: readonly string[]): (Finding & { readonly code: string }) | undefined {
  const bare = given.filter(isName).map((name) => [bareName(name), name] as const);
  const telling = bare.filter(([name]) => !ordinary.test(name));
  if (telling.length === 0) return undefined;
  for (const [pattern, meaning] of names) {
    const found = telling.find(([name]) => pattern.test(name));
    if (found !== undefined) return { ...meaning, code: found[1] };
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
