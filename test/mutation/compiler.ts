import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Place } from './sample.ts';

/** The part of TypeScript's interface for programs that is used. The compiler of the repository has none: its predecessor stands in. */
interface Typescript {
  readonly sys: {
    readonly readFile: (path: string) => string | undefined;
    readonly fileExists: (path: string) => boolean;
  };
  readonly ScriptSnapshot: { readonly fromString: (text: string) => object };
  readonly readConfigFile: (path: string, read: unknown) => { readonly config: object };
  readonly parseJsonConfigFileContent: (config: object, host: unknown, folder: string) => { readonly options: object };
  readonly getDefaultLibFilePath: (options: object) => string;
  readonly createLanguageService: (host: object) => Service;
}

interface Service {
  readonly getSemanticDiagnostics: (file: string) => readonly object[];
  readonly getSyntacticDiagnostics: (file: string) => readonly object[];
}

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The compiler with the source as it is, which is asked about one change at a time. */
export class Compiler {
  readonly #service: Service;
  readonly #versions = new Map<string, number>();
  #changed: { readonly file: string; readonly text: string } | undefined;

  private constructor(ts: Typescript) {
    const { config } = ts.readConfigFile(resolve(root, 'tsconfig.json'), ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent(
      { ...config, include: [], files: ['src/index.ts'] },
      ts.sys,
      root,
    );
    this.#service = ts.createLanguageService({
      ...ts.sys,
      getCompilationSettings: () => options,
      getScriptFileNames: () => [...this.#versions.keys()],
      getScriptVersion: (file: string) => String(this.#versions.get(file) ?? 0),
      getScriptSnapshot: (file: string) => {
        const text = file === this.#changed?.file ? this.#changed.text : ts.sys.readFile(file);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => root,
      getDefaultLibFileName: (of: object) => ts.getDefaultLibFilePath(of),
      realpath: (path: string) => path,
      useCaseSensitiveFileNames: () => true,
    });
  }

  static async start(): Promise<Compiler> {
    const path = new URL('node_modules/typescript/lib/typescript.js', import.meta.url).href;
    const { default: ts } = (await import(path)) as { readonly default: Typescript };
    return new Compiler(ts);
  }

  /** @returns whether the changed file has no error. Lines and columns count from 0. */
  takes(name: string, location: Place['location'], replacement: string): boolean {
    const file = resolve(root, name);
    this.#changed = { file, text: changed(readFileSync(file, 'utf8'), location, replacement) };
    this.#touch(file);
    const wrong =
      this.#service.getSyntacticDiagnostics(file).length > 0 || this.#service.getSemanticDiagnostics(file).length > 0;
    this.#changed = undefined;
    this.#touch(file);
    return !wrong;
  }

  #touch(file: string): void {
    this.#versions.set(file, (this.#versions.get(file) ?? 0) + 1);
  }
}

function changed(source: string, { start, end }: Place['location'], replacement: string): string {
  const lines = source.split('\n');
  const at = ({ line, column }: Place['location']['start']): number =>
    lines.slice(0, line).reduce((sum, text) => sum + text.length + 1, 0) + column;
  return source.slice(0, at(start)) + replacement + source.slice(at(end));
}
