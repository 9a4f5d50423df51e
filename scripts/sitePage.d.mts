/** The heading of a page, as plain text. */
export function titleOf(text: string): string;
/** The anchor of a heading, on GitHub and on the site. */
export function anchorOf(heading: string): string;
/** A page as the site takes it. @param path - of the page, from the root of the project */
export function pageOf(
  text: string,
  path: string,
  shown: { readonly isShown: (path: string) => boolean; readonly exists: (path: string) => boolean },
): string;
