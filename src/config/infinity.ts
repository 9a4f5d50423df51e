/** The word for no limit; JSON has no number for it. */
export const infinity = 'infinity';
