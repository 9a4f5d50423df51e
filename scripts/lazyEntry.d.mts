export interface Chunk {
  readonly fileName: string;
  readonly imports: readonly string[];
  readonly dynamicImports: readonly string[];
  readonly isEntry: boolean;
}

export function requiredPackage(name: string, output: readonly { readonly code?: string }[]): string;
export function lazyEntry(code: string, waits: (file: string) => boolean): string;
export function refuseShared(chunks: readonly Chunk[], waits: (file: string) => boolean): void;
