export interface Requirement {
  readonly id: string;
  readonly status: 'planned' | 'built' | 'withdrawn';
  readonly text: string;
}

export interface RequirementTest {
  readonly file: string;
  readonly line: number;
  readonly title: string;
  readonly ids: readonly string[];
}

export interface Judgement {
  readonly rows: readonly (Requirement & { readonly tests: readonly RequirementTest[] })[];
  /** Titles that name an ID which is not in the list. */
  readonly unknown: readonly (Omit<RequirementTest, 'ids'> & { readonly id: string })[];
  /** IDs that are `built` without a test title. */
  readonly untested: readonly string[];
}

export function judgeRequirements(requirements?: readonly Requirement[], tests?: readonly RequirementTest[]): Judgement;
export function readRequirements(): Requirement[];
export function readTests(): RequirementTest[];
export function parseRequirements(markdown: string): Requirement[];
export function parseTitles(source: string, file: string): RequirementTest[];
