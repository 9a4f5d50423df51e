export type { TranscriptFormat } from './detect.ts';
export type { RepairCounts, RepairRule, TranscriptFinding, TranscriptReport } from './findings.ts';
export { repairTranscript, type RepairOptions, type TranscriptRepair } from './repairTranscript.ts';
