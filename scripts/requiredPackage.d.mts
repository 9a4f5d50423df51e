export function requiredPackage(name: string, output: readonly { readonly code?: string }[]): string;
