export interface Module {
  readonly bytes: number;
  readonly imports: readonly string[];
}

export interface Start {
  readonly name: string;
  readonly ids: ReadonlySet<string>;
  readonly weight: number;
  readonly main?: true;
  readonly room?: string;
}

export function planChunks(modules: ReadonlyMap<string, Module>, starts: readonly Start[]): Map<string, string>;
