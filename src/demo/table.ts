import { formatDuration } from '../policy/duration.ts';
import type { FaultReport } from './report.ts';

/** Headings of the closing table. */
export const tableHeadings = ['FAULT', 'THE CALLER GOT', 'TOOK', 'THE SESSION DID NEXT', 'RECORDED'] as const;

/** One row of the closing table; all together fit 100 columns. */
export function tableRow(report: FaultReport): string[] {
  const { fault, got, elapsedMs, next, recorded } = report;
  const beats = next.heartbeats === 1 ? '1 heartbeat' : `${next.heartbeats} heartbeats`;
  return [
    fault,
    outcomeText(got),
    formatDuration(elapsedMs),
    next.answered ? `${beats}, answered` : 'nothing',
    recorded[0] ?? 'nothing',
  ];
}

/** What the caller got, for the line that is printed when it got it. */
export function outcomeLine({ got }: FaultReport): string {
  const text = outcomeText(got);
  if (got.message === undefined) return text;
  return got.status === 'ok' ? `${text}, despite: ${got.message}` : `${text}: ${got.message}`;
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
