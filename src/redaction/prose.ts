/**
 * Words that an error text goes on with after the name of a secret: `token: expired at 10:00`, `Password: the field is missing`. A list and
 * no guess by form: what is kept of a text is one of these, so that a secret in lower case stays hidden.
 */
const words =
  'a|an|the|this|that|these|those|it|its|you|your|we|our|they|their|he|she|i|' +
  'is|are|was|were|be|been|being|has|have|had|do|does|did|can|cannot|could|may|might|must|shall|should|will|would|need|needs|' +
  'at|by|for|from|in|into|of|off|on|onto|out|over|since|than|through|to|until|up|via|with|within|without|and|but|or|nor|if|as|' +
  'when|where|which|while|who|why|how|because|after|before|again|already|also|always|both|either|neither|never|not|no|now|only|please|' +
  'still|then|there|too|yet|' +
  'absent|bad|blank|blocked|changed|corrupt|corrupted|denied|deprecated|disabled|duplicate|empty|exceeded|expected|expires|expired|' +
  'failed|failure|forbidden|ignored|incomplete|incorrect|insufficient|invalid|locked|malformed|mismatch|missing|' +
  'outdated|refused|rejected|removed|required|revoked|rotated|short|long|unauthorized|unexpected|unknown|unreadable|unrecognized|unset|' +
  'unsupported|unusable|used|wrong|error|' +
  'access|account|argument|authentication|characters?|connection|content|directory|environment|field|file|format|header|input|issuer|' +
  'length|line|lookup|name|parameter|parsing|path|permission|permissions|property|refresh|request|response|scope|server|session|signature|' +
  'string|user|username|validation|value|variable|verification';

/** Such a word, at the end of it. */
const prose = new RegExp(`(?:${words})(?=[,.;:!?)"'\\]}]{0,2}(?:\\s|$))`, 'iy');
/** A number that more prose follows: `token: 12 used of 10`. */
const counted = new RegExp(`\\d{1,3}[ \\t]{1,4}(?:${words})(?=[,.;:!?)]?(?:\\s|$))`, 'iy');
/** After a scheme stands what it is about; so may it after a word that is none: `authorization: invalid a1b2c3d4`. */
const thenSecret = /[A-Za-z]{1,20}[^\s\w]{0,2}[ \t]{1,4}(?=\d|\S\S{0,200}[^a-z\s,.;:!?()'"])/y;

/** Tells whether the text says something at this place, in words, rather than giving a value. */
export function isProse(text: string, at: number): boolean {
  return fits(prose, text, at) || fits(counted, text, at);
}

/** The same after `authorization:`, where the value is of two words. */
export function isProseOfCredentials(text: string, at: number): boolean {
  return fits(prose, text, at) && !fits(thenSecret, text, at);
}

function fits(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at;
  return pattern.test(text);
}
