import type { FaultReport } from '../demo/report.ts';
import { formatDuration } from '../policy/duration.ts';
import type { Cell, Column } from './table.ts';

/** The closing table of the tour. What is left out first is said elsewhere: what was recorded in the events, the times in the lines above. */
export const demoColumns: readonly Column[] = [
  { title: 'FAULT' },
  { title: 'THE CALLER GOT' },
  { title: 'TOOK', align: 'right', rank: 1 },
  { title: 'SESSION' },
  { title: 'HEARTBEATS', align: 'right', rank: 2 },
  { title: 'RECORDED', rank: 3 },
];

/** Draws one row of the closing table. @param paint - of the name. */
export function demoRow(report: FaultReport, paint: (text: string) => string): readonly Cell[] {
  const { fault, got, elapsedMs, next, recorded } = report;
  return [
    { text: fault, paint },
    outcomeText(got),
    formatDuration(elapsedMs),
    next.answered ? 'answered' : 'nothing',
    String(next.heartbeats),
    recorded[0] ?? 'nothing',
  ];
}

/** Describes the outcome that the caller got, for the line that is printed then, and the cause. */
export function outcomeLine({ got }: FaultReport): { readonly text: string; readonly cause?: string } {
  const text = outcomeText(got);
  if (got.message === undefined) return { text };
  return { text, cause: got.status === 'ok' ? `despite: ${got.message}` : got.message };
}

function outcomeText({ status, kind, synthetic, retries }: FaultReport['got']): string {
  const times = retries === 0 ? '' : `, ${retries} ${retries === 1 ? 'retry' : 'retries'}`;
  switch (status) {
    case 'ok':
      return `result${times}`;
    case 'error':
      return `${synthetic ? 'synthetic' : 'error'}: ${kind ?? 'no record'}${times}`;
    case 'nothing':
      return 'nothing';
  }
}
