/** What is looked at of a reflection of TypeDoc. */
export interface Reflection {
  readonly name: string;
  readonly variant?: string;
  readonly comment?: { readonly summary: readonly { readonly text: string }[] };
  readonly children?: readonly Reflection[];
  readonly signatures?: readonly Reflection[];
}

export function publicNames(): Readonly<Record<string, readonly string[]>>;
export function uncovered(
  names: Readonly<Record<string, readonly string[]>>,
  reference: { readonly children?: readonly Reflection[] },
  pages: readonly string[],
): readonly string[];
