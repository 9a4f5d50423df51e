import type { Program } from '../../install/entry.ts';
import type { OwnCommand } from '../../install/launcher.ts';
import type { Finding } from './finding.ts';

/** A server or hook of an agent's file. */
export interface ConfiguredProgram {
  readonly program: Program;
  /** As one of ours; undefined when it is none. */
  readonly own: OwnCommand | undefined;
}

/** Verdict of an agent's own rules (policies, approvals, trust) on the parts that a file of it has configured. */
export interface Standing {
  /** Judges one server or hook; undefined when nothing is wrong with it. */
  of(configured: ConfiguredProgram): Finding | undefined;
  /** Judges the file, once. */
  ofFile(configured: readonly ConfiguredProgram[]): Finding | readonly Finding[] | undefined;
}
