// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { type DeviceCode, type DeviceSignIn, signInByDevice } from './deviceCode.ts';
export { findIssuer } from './issuer.ts';
export { type SignInEnd, conversation, keepTokens, register, withOfflineAccess } from './newSignIn.ts';
export { renewedOf } from './renewals.ts';
export { refused } from './tokenRequest.ts';
export { SignInFile } from './signInFile.ts';
