/** A file as a string; scripts/inlinePage.mjs makes it one. */
declare module '*?text' {
  export const text: string;
}

/** A file and all it imports as one plain script for browsers. */
declare module '*?script' {
  export const script: string;
}
