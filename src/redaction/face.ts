// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { KnownSecrets } from './knownSecrets.ts';
export { type FactRedactor, createFactRedactor, createMaskedJson, createRedactedLogger } from './redactFact.ts';
export { redactTexts } from './redactTexts.ts';
export { announcesSecret, isSecretName, redacted } from './secretNames.ts';
export { withoutTokens } from './secretShapes.ts';
export { createTextRedactor, redactText } from './secrets.ts';
export { type ShownName, createShownNames, nameAmong, withShownNames } from './shownNames.ts';
