export interface BuiltFile {
  readonly fileName: string;
  readonly code?: string;
  readonly isEntry?: boolean;
}

export function withoutFacades<T extends BuiltFile>(output: readonly T[]): T[];
export function withRuntimeInlined<T extends BuiltFile>(output: readonly T[]): T[];
