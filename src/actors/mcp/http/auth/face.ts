// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { lockBusy } from './fileLock.ts';
export { findIssuer, refused } from './issuer.ts';
export { renewedOf } from './renewals.ts';
export { SignInFile } from './signInFile.ts';
export { emptyRecord } from './signInRecord.ts';
export type { RenewedTokens } from './tokenKeeper.ts';
export { TokenRequest, tokenRequestMs } from './tokenRequest.ts';
