import { means, type Row, texts } from './finding.ts';

const over = String.raw`(?:reach(?:ed|ing|es)?|exceed(?:ed|s|ing)?|exhaust(?:ed|ing)?|hit(?:ting)?|used up|depleted|consumed|ran out|run out|surpassed|over)`;
const window = String.raw`(?:daily|weekly|monthly|yearly|annual|session|\d+[- ]hour|\d+[- ]day)`;
const limit = '(?:limit|quota|cap|budget|allowance|allocation|allotment)s?';
const money = '(?:spend|spending|billing|usage|cost|credit|budget|payment|free[ -]tier|free usage|plan|token plan)';
/** Words in between, within a sentence. */
const some = String.raw`\b[^.!?;\n]{0,60}?\b`;
const few = String.raw`\b[^.!?;\n]{0,30}?\b`;

const text = (pattern: string): RegExp => new RegExp(pattern, 'i');

/** Money, and limits of a day and more; then those of any window, most of which are short. */
export const quotaTexts: readonly Row[] = [
  ...texts(means.quota, [
    /(?:insufficient[ _]quota|credit[ _]balance|billing_error|spend_limit|usage_?limit)_?(?:is too low|exhausted|exceeded|reached)?(?= ?["'|]|[_ ](?:exceeded|reached|is too low))|insufficient_quota|billing_error|credit_balance_exhausted/i,
    text(String.raw`\b${window}${few}${limit}${some}${over}\b`),
    text(String.raw`\b${over}${some}${window}${few}${limit}\b`),
    text(String.raw`\b${limit} ${over} \(${window}`),
    text(String.raw`\b${money}(?: hard| soft)? (?:limit|cap|quota|budget)s?${some}${over}\b`),
    text(String.raw`\b${over}${some}${money}(?: hard| soft)? (?:limit|cap|quota|budget)s?\b`),
    /\b(?:insufficient|not enough|out of|no(?: more| remaining)?|ran out of|run out of|exhausted|depleted|used up|used (?:up )?all)\b(?: \w+){0,4} (?:credits?|funds|balance)\b/i,
    /\b(?:credits?|balance|funds|(?<!retry |error |time |token |thinking )budget)\b[^.!?;\n]{0,40}?\b(?:too low|insufficient|exhausted|depleted|used up|exceeded|ran out|run out|negative|consumed)\b/i,
    /\brequires? (?:more|additional) credits\b|\b(?:add|buy|purchase) (?:more |additional )?credits\b|\b(?:do|does)(?: not|n['’]t) have (?:any |enough |sufficient )?(?:credits|funds)\b|\b(?:free|plan|api|token|credit|monthly|weekly|daily|included|trial) usage exceeded\b|\b(?:insufficient|low) (?:account )?balance\b|\binsufficient (?:funds|credits?)\b/i,
    /\bpayment (?:is )?required\b|\b(?:account |recent |your )payments? (?:has |have )?(?:failed|declined)\b|\bspending limit needs to be (?:increased|raised)\b|\bbilling (?:account )?(?:is |has been |was )?(?:not active|inactive|disabled|suspended|not enabled)\b/i,
    /\bexceed\w*\b[^.!?;\n]{0,30}?(?<!time |token |retry |error )\bbudget\b/i,
    /\b(?:account|subscription|trial|plan) (?:has |is |was |has been )?(?:expired|past due|overdue|not active|in arrears)\b/i,
    /you['’]?(?:ve| have) (?:hit|reached|used (?:up )?all(?: of)?) your (?:(?!rate|secondly|minutely|hourly)\S+ ){0,4}limits?\b|out of call volume quota|\bkey limit (?:exceeded|reached)\b|\blimited to \d[\d,]*[^.\n]{0,30}(?:per|\/|a|each) ?(?:day|week|month)\b|to use codex with your chatgpt plan/i,
    /\b(?:limit|quota|exceed\w*|exhaust\w*|too many)\b[^!?;\n]{0,120}?\bper[ _-]?(?:day|week|month)\b|\b(?:requests|tokens)[ _-]per[ _-]day\b|\b[RT]PD\b/i,
    /\bquota will (?:be )?(?:reset|replenish\w*)\b[^.\n]{0,20}\b(?:\d+h|\d+ hours?|\d+ days?|\d\d:\d\d:\d\d)\b/i,
  ]),
  ...texts(means.rateLimit, [
    /\b(?:quota|limit|exceeded|too many)\b[^!?;\n]{0,140}?(?:\b|_|[a-z](?=Per))per[ _-]?(?:sec(?:ond)?|min(?:ute)?|hour)(?:\b|_|(?=Per|With))|(?:\b|_)per[ _-]?(?:sec(?:ond)?|min(?:ute)?)(?:\b|_)[^!?;\n]{0,60}\b(?:quota|limit)\b[^.\n]{0,20}\b(?:reached|exceeded|hit)\b|\b(?:quota|limit)\b[^!?;\n]{0,100}?\b[RTQ]P[MS]\b/i,
  ]),
  ...texts({ ...means.quota, isAnyWindow: true }, [
    /\bquota (?:has been |was |is )?(?:exceeded|exhausted|reached)\b|\b(?:exceeded|exhausted|reached)\b[^.!?;\n]{0,40}\bquota\b/i,
    /\bquota will (?:be )?(?:reset|replenish\w*)\b|\bexhausted your capacity\b|\bout of (?:\w+ ){0,3}quota\b|\bno quota (?:left|remaining)\b/i,
  ]),
];

/** No room for the moment. */
export const overloadTexts = texts(means.overloaded, [
  /overloaded_error|server_?is_?overloaded|server_?overloaded|\boverloaded[.!]?$|(?:^|[-:·] )overloaded\b(?! (?:function|method|operator|constructor)s?\b)/im,
  /\b(?:is|are|was|were|be|been|currently|temporarily|model|server|service|system|api|engine|backend|cluster|error:) overloaded\b/i,
  /\b(?:at|over|no|insufficient|out of|not enough)(?: \w+)? capacity\b|\bcapacity (?:is )?(?:exceeded|constraints?|unavailable)/i,
  /\b(?:high|heavy|excessive)(?: \w+)? (?:demand|load|traffic)\b/i,
  /(?<!service |resource |file |currently |is |be )temporarily unavailable/i,
]);

/** Too many in a short time. */
export const rateTexts = texts(means.rateLimit, [
  /rate_limit(?:_error|_exceeded|ed)|\brate.?limited\b|\brate.?limit.?(?:error|exceeded|reached|hit|violation|exception)\b|^(?:error: )?rate.?limit(?:s|ing)?[.!]?$/im,
  /\brate[- ]?limits?\b(?: \w+){0,4} (?:been |was |is )?(?:exceeded|reached|hit|triggered)\b/i,
  /\b(?:exceed\w*|hit|reach\w*|over|due to|because of|caused by|triggered|violat\w+)\b[^.!?;\n]{0,80}?\brate[- ]?limit(?:s|ing)?\b/i,
  /\b(?:exceed\w*|hit)\b[^.!?;\n]{0,60}?\b(?:call|request|token|api|query) rates?\b|\b(?:request )?rate (?:is )?(?:exceeded|too (?:high|large))\b|\brequest rate is large\b/i,
  /\b(?:request|call|you|client|api|operation)s?\b[^.!?;\n]{0,30}?\b(?:was|were|is|are|been|being) (?:throttled|rate.?limited)\b|\bthrottl(?:ing|ed)(?:error|exception)?:|\brequest rate limit/i,
  /\btoo many (?:requests|tokens|calls|api calls|concurrent|attempts|messages)\b|\b(?:concurrency|concurrent \w+) limit\b[^.\n]{0,20}\b(?:exceeded|reached|hit)\b/i,
  /\bsending (?:too many )?requests too (?:quickly|fast|frequently)\b|\bslow_down\b|\bplease slow down\b|\breduce your request rate\b|\bresources? (?:has been |have been )?exhausted\b|\bRESOURCE_EXHAUSTED\b|\bFLOOD_?WAIT/i,
  /temporarily limiting requests|\babuse detection mechanism\b|\bhas exceeded the '\w{0,60}' resource\b|\b(?:secondly|minutely|ten[_ ]secondly)(?: rate)? limit\b/i,
]);

/** The card with which somebody pays: it says nothing of the account that asks. */
export const payerText =
  /\b(?:your|the|this|customer['’]?s?) (?:debit |credit |bank )?card(?:['’]s)? (?:was|has|is|does|did|number|security|zip|cannot|could)\b|\bcard (?:was |has been )?declined\b/i;

/** Things that have a name or a value of their own, in which any words may stand. */
const thing =
  /\b(?:fields?|rules?|names?|named|titles?|titled|propert(?:y|ies)|attributes?|columns?|parameters?|params?|labels?|tags?|articles?|templates?|values?|enum|keys? ["'<]|entry|entries|records?|options?|subjects?|slugs?|categor(?:y|ies)|documents?|pages?|posts?|tickets?|comments?|validation|must (?:be|not)|exists?|is taken)\b/i;
/** Owner of the limit: the one who asks. */
const account =
  /\b(?:you|your|you['’]ve|accounts?|organi[sz]ations?|org|team|workspace|projects?|billing|credits?|balance|plan|subscription|spend\w*|usage|tier|tenant|consumer|metric|quota metric|api key|requests?|tokens?|quotaUser|daily|caller|user)\b/i;
const plainly =
  /^(?:\W|\b(?:error|failed|forbidden|http|api|request|message|\d{3})\b)*(?:\w+ ){0,2}(?:quota|limit|insufficient|exceeded|out of|exhausted)\b/i;

/** Tells whether a line of a text says of the account that asks that it has nothing left, and not of a thing with such a name. */
export function isOfAccount(text: string): boolean {
  return text
    .split('\n')
    .some(
      (line) =>
        quotaTexts.some(([pattern, { kind }]) => kind === 'quota' && pattern.test(line)) &&
        !thing.test(line) &&
        (account.test(line) || plainly.test(line)),
    );
}
