import { redacted } from './secretNames.ts';

/**
 * Prefixes of the tokens of services. The kinds were collected with the help of the rules of gitleaks (MIT), which are for scans of files and not for texts
 * that an attacker writes: some of them take more than linear time in JavaScript.
 */
const prefixes = [
  // Models and what agents work with.
  'sk-|gsk_|xai-|pplx-|r8_|hf_|api_org_|nvapi-|tvly-|fc-|jina_|lsv2_(?:pt|sk)_|pcsk_|e2b_|figd_|ntn_|lin_api_',
  // Code and packages.
  'gh[oprsu]_|github_pat_|gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|soat)-|GR1348941|npm[_-]|pypi[_-]',
  'rubygems_|CLOJARS_|dckr_pat_|CCIPAT_|bkua_|sgp_|PMAK-|ATATT3|AKCp',
  // Clouds and what runs there.
  'do[opr]_v1_|dapi|fo1_|fm[12][ar]?_|HRKU-|pscale_(?:tkn|oauth|pw)_|pul-|ops_|p8e-|ico-|pnu_|LTAI|ABSK|tk-us-',
  'sm_[aps]at_|AGE-SECRET-KEY-|glc_|glsa_|sntry[su]_|ph[cx]_|rnd_|vcp_|tfp_',
  // Shops, payments, mail.
  'shp(?:at|ca|pa|ss)_|shippo_(?:live|test)_|sq0(?:atp|csp)-|FLW(?:SECK|PUBK)(?:_TEST)?-|duffel_(?:live|test)_',
  'EZ[AT]K|whsec_|xkeysib-|key-|rdme_|fio-u-',
].join('|');

/** So short that names of variables begin alike: what follows is one run of letters and digits. */
const compactPrefixes = [
  // Models and what agents work with.
  'csk-|fw_|sk_|tgp_v1_|esecret_|apify_api_|rpa_|vck_|ctx7sk-|crsr_|m0-|ls__|wandb_v1_|KGAT_|dtn_|flp_|hc[abx]ik_',
  'secret_|lin_oauth_',
  // Code and packages.
  'ATCTT3|ATBB|oy2',
  // Clouds and what runs there.
  'sbp_|sb_secret_|napi_|AVNS_|CCDB1_|nfp_|cf[au]t_|vercel_blob_rw_|tskey-(?:auth|api|client|scim|webhook)-',
  'NR(?:AK|II|JS|RA)-',
  // Shops, payments, mail.
  'xsmtpsib-|re_[A-Za-z0-9]{6,12}_',
].join('|');

/** Something of these is in every text that holds such a token: a look spares most texts the search. */
const trace = new RegExp(
  `${prefixes}|${compactPrefixes}|GOCSPX-|CFPAT-|pat-[a-z]{2}\\d-|xox[a-z]-|xapp-|[srp]k_|A3T|AKIA|ASIA|ABIA|ACCA|AIza|BSA|SK[0-9a-f]`,
);
/** A run of characters long enough for a token. */
const runs = /\b[\w-]{13,}/g;
/** Prefixes that no word has; some hold letters alone: those of Hugging Face do, and of GitLab one in thirty. */
const unmistakable =
  'hf_|api_org_|gsk_|xai-|gh[oprsu]_|github_pat_|gl(?:agent|cbt|dt|ffct|ft|imt|oas|pat|ptt|rt|soat)-|dckr_pat_|figd_|ntn_|glsa_';
/** Tokens that a service has made hold a digit; a hyphenated word does not. Letters of both cases without one are a token where nothing else begins so. */
const token = new RegExp(
  `(?:^|[_-])(?:sk-[\\w-]{16}|(?:${prefixes})(?=[\\w-]{0,200}\\d)[\\w-]{16}|` +
    `(?:${unmistakable})(?=[\\w-]{0,60}(?:[a-z][A-Z]|[A-Z][a-z]))[\\w-]{20}|` +
    `(?:${compactPrefixes})(?=[A-Za-z]{0,60}\\d)[A-Za-z0-9]{16}|` +
    '(?:GOCSPX-|CFPAT-)[\\w-]{20}|pat-[a-z]{2}\\d-[0-9a-f]{8}-[0-9a-f]{4}-|BSA(?=[A-Za-z]{0,60}\\d)[\\w-]{24}|' +
    '(?:xox[a-z]-|xapp-|[srp]k_(?:live|test|prod)_)[\\w-]{8}|' +
    '(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}(?![0-9A-Za-z])|AIza[\\w-]{30}|SK[0-9a-f]{32}(?![0-9A-Za-z]))',
);

function withoutToken(run: string): string {
  const found = token.exec(run);
  if (found === null) return run;
  const at = found.index + (/^[_-]/.test(found[0]) ? 1 : 0);
  return `${run.slice(0, at)}${redacted}`;
}

const jwt = /\beyJ[\w-]{10,}(?:\.[\w-]*){0,4}/g;
const dotted =
  /(?<![A-Za-z0-9])(?:SG\.|ya29\.|hv[bs]\.|dt0c01\.|dp\.(?:pt|st|ct|sa)\.|pat[A-Za-z0-9]{14}\.)[\w.-]{16,}|(?<![A-Za-z0-9])(?:AQ|sl(?:\.u)?)\.[\w-]{30,}|(?<![A-Za-z0-9])1\/\/0[\w-]{30,}/g;
const privateKey =
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g;
const bearer = /\bBearer\s{1,8}(?!auth|token|realm)[\w.~+/=-]{8,}/gi;
const basic = /\b[Bb]asic\s{1,8}(?=[a-z]{0,200}[A-Z0-9+/=])[\w+/]{8,}={0,2}/g;
const telegram = /(?<![A-Za-z0-9])(?:bot)?\d{8,10}:[\w-]{35}(?![\w-])/g;

/** The text without tokens that are known by what they look like. Linear in its length. */
export function withoutTokens(text: string): string {
  let result = text;
  // First: its lines may look like something else.
  if (result.includes('-----BEGIN')) result = result.replace(privateKey, redacted);
  if (result.includes('eyJ')) result = result.replace(jwt, redacted);
  if (/bearer/i.test(result)) result = result.replace(bearer, redacted);
  if (/basic/i.test(result)) result = result.replace(basic, redacted);
  if (result.includes(':')) result = result.replace(telegram, redacted);
  if (result.includes('.') || result.includes('1//0')) result = result.replace(dotted, redacted);
  return trace.test(result) ? result.replace(runs, withoutToken) : result;
}

const userinfo = /:\/\/([^\s/"'<>`]{1,512})@(?=[^\s/@])/g;
/** A user name alone is a token where it is as long, or where nobody has an account of his own: `https://TOKEN@host`. */
const shortestToken = 16;
/** Addresses whose path is their secret; what is kept of them, and what is not. */
const webhooks =
  /(hooks\.slack\.com\/(?:services|workflows|triggers)\/|discord(?:app)?\.com\/api\/(?:v\d{1,2}\/)?webhooks\/|webhook\.office\.com\/webhookb2\/|hooks\.zapier\.com\/hooks\/)[\w@+/-]{8,}/gi;

/** The text without the secrets of its addresses: what stands before the host, and the paths of webhooks. Linear in its length. */
export function withoutAddressSecrets(text: string): string {
  if (!text.includes('://') && !text.includes('.com/')) return text;
  return text.replace(webhooks, `$1${redacted}`).replace(userinfo, (whole, user: string, at: number, all: string) => {
    const colon = user.indexOf(':');
    if (colon >= 0) return `://${user.slice(0, colon)}:${redacted}@`;
    const isToken = user.length >= shortestToken || /https?$/i.test(all.slice(Math.max(0, at - 5), at));
    return isToken && !/[?#]/.test(user) ? `://${redacted}@` : whole;
  });
}
