import type { FileHandle } from 'node:fs/promises';
import type { TranscriptFormat } from '../../transcript/detect.ts';
import type { TranscriptReport } from '../../transcript/findings.ts';
import type { Pieces } from './replace.ts';

/** A repair that was worked out and not yet written. */
export interface Draft extends TranscriptReport {
  readonly format: TranscriptFormat | undefined;
  readonly unit: 'line' | 'entry';
  /** The repaired file, piece by piece. */
  readonly pieces: () => Pieces;
}

/** An open file and how to stop reading it. */
export interface Source {
  readonly path: string;
  readonly handle: FileHandle;
  readonly size: number;
  readonly signal: AbortSignal;
}
