export function bundlePackage(
  tree: string,
): Promise<readonly { readonly fileName: string; readonly moduleIds: readonly string[] }[]>;
