export interface InlinePage {
  readonly name: string;
  readonly resolveId: {
    readonly order: 'pre';
    handler(id: string, importer: string | undefined): string | undefined;
  };
  load(id: string): Promise<{ readonly code: string; readonly moduleType: 'js' } | undefined>;
}

/** For the bundler and for vitest alike. */
export function inlinePage(): InlinePage;

/** The modules of the scripts that were made. */
export const pageModules: Set<string>;
