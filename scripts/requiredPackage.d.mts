export function requiredPackage(
  name: string,
  output: readonly { readonly code?: string }[],
  late?: readonly string[],
): string;
