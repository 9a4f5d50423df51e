// Names what the source outside of the core uses of this folder; nothing within the core imports it.
export { fitsInline } from './promptDelivery.ts';
export { type PromptFile, writePromptFile } from './promptFile.ts';
